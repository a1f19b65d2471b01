// Every pick by its definition, at every door.
#include <set>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

constexpr int draws = 400;  // 8 slots: one of them stays unused with a chance of 8 * (7/8)^400 < 1e-22

std::set<int> used(const std::vector<Slot>& slots) {
  std::set<int> out;
  for (const auto& slot : slots) {
    if (slot.n != 0) out.insert(slot.slot);
  }
  return out;
}

std::set<int> first_slots(int count) {
  std::set<int> out;
  for (int slot = 0; slot < count; ++slot) out.insert(slot);
  return out;
}

/// FNV-1a, 32 bits, written here once more so that the suite does not believe the code under test.
std::uint32_t fnv1a(std::string_view bytes) {
  std::uint32_t hash = 2166136261U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
  return hash;
}

std::int64_t floor_modulo(std::int64_t value, std::int64_t count) { return ((value % count) + count) % count; }

class Picks : public EveryDoor {
 protected:
  /// The one slot that a single add went to.
  int slot_after(Counter& counter, const Add& add_now) {
    const auto before = slots(counter, add_now.key);
    const auto answer = add(counter, add_now);
    EXPECT_TRUE(done(answer));
    std::vector<int> changed;
    for (const auto& slot : slots(counter, add_now.key)) {
      if (std::find(before.begin(), before.end(), slot) == before.end()) changed.push_back(slot.slot);
    }
    EXPECT_EQ(changed.size(), 1U) << "an add changes exactly one row";
    if (answer && answer->slot && !changed.empty()) {
      EXPECT_EQ(*answer->slot, changed.front()) << "the answer tells it";
    }
    return changed.empty() ? -1 : changed.front();
  }
  void expect_all_slots_used(Pick pick, const RuleOptions& options, const std::vector<std::string>& keys) {
    auto counter = make("picked", options, keys);
    const std::string key = options.key ? "k" : "";
    for (int i = 0; i < draws; ++i) ASSERT_TRUE(done(add(counter, {.key = key})));
    EXPECT_EQ(total(counter, key), draws);
    const auto now = used(slots(counter, key));
    if (pick == Pick::random || traits().one_writer) {
      EXPECT_EQ(now, first_slots(8));
    } else {
      EXPECT_FALSE(now.empty());
    }
  }
};
SPLITCOUNT_AT_EVERY_DOOR(Picks);

TEST_P(Picks, RandomUsesAllSlotsAndNoOther) {
  expect_all_slots_used(Pick::random, {.key = "page", .slots = 8, .pick = Pick::random}, {});
}
TEST_P(Picks, RandomUsesAllSlotsWhereTheyWereDefined) {
  expect_all_slots_used(Pick::random, {.key = "page", .slots = 8, .pick = Pick::random, .missing = Missing::error},
                        {"k"});
}
TEST_P(Picks, SessionUsesSlotsOfTheRule) {
  expect_all_slots_used(Pick::session, {.slots = 8, .pick = Pick::session}, {});
}
TEST_P(Picks, FreeUsesSlotsOfTheRule) {
  expect_all_slots_used(Pick::free, {.key = "page", .slots = 8, .pick = Pick::free}, {});
}

TEST_P(Picks, RandomUsesOneSlotInOneTransaction) {
  if (by_sql() || kind_ == DoorKind::combined) return;  // there each add is a statement or a caller of its own
  auto counter = make("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back("k" + std::to_string(i));
  std::vector<Add> adds;
  for (const auto& key : keys) adds.push_back({.key = key}), adds.push_back({.key = key});
  std::set<int> drawn;
  for (int round = 0; round < 20; ++round) {
    std::set<int> in_this_one;
    for (const auto& answer : door_->add_many(counter, adds)) {
      ASSERT_TRUE(done(answer));
      in_this_one.insert(*answer->slot);
    }
    EXPECT_EQ(in_this_one.size(), 1U);
    drawn.insert(in_this_one.begin(), in_this_one.end());
  }
  EXPECT_GT(drawn.size(), 1U) << "another transaction draws again";
}

TEST_P(Picks, SpreadUsesSlotZeroWhileNobodyHoldsIt) {
  auto counter = make("page_views", {.key = "page", .slots = 8, .pick = Pick::spread});
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(done(add(counter, {.key = "a"})));
  EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{0, 30}}));
}

TEST_P(Picks, RequestUsesTheHashOfTheId) {
  auto counter = make("page_views", {.key = "page", .slots = 13, .pick = Pick::request, .retries = Retries{true, {}}});
  for (const std::string id : {"7f3a", "a", "b", "id with blanks", "\xc3\xa9t\xc3\xa9", "0", "zzzzzzzzzzzzzzzzzzz"}) {
    EXPECT_EQ(slot_after(counter, {.key = "k", .request_id = id}), static_cast<int>(fnv1a(id) % 13U)) << id;
  }
  const std::string longest(128, 'r');
  EXPECT_EQ(slot_after(counter, {.key = "k", .request_id = longest}), static_cast<int>(fnv1a(longest) % 13U));
}

TEST_P(Picks, RequestUsesTheSameSlotWhenAnExpiredIdComesAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 64, .pick = Pick::request, .retries = Retries{true, {}}});
  auto other = make("other_views", {.key = "page", .slots = 64, .pick = Pick::request, .retries = Retries{true, {}}});
  EXPECT_EQ(slot_after(counter, {.key = "k", .request_id = "again"}),
            slot_after(other, {.key = "k", .request_id = "again"}));
}

TEST_P(Picks, ValueUsesTheFloorRemainder) {
  auto counter = make("prizes_won", {.slots = 11, .pick = Pick::value});
  for (const std::int64_t value : {std::int64_t{4711}, std::int64_t{0}, std::int64_t{10}, std::int64_t{11},
                                   std::int64_t{-1}, std::int64_t{-11}, std::int64_t{-12}, amount_max, amount_min}) {
    EXPECT_EQ(slot_after(counter, {.value = value}), floor_modulo(value, 11)) << value;
  }
  EXPECT_EQ(total(counter), 9);
}

TEST_P(Picks, StridedValuesAreEvenOverAPrimeAndUnevenOverAComposite) {
  auto prime = make("prime", {.slots = 11, .pick = Pick::value});
  auto composite = make("composite", {.slots = 12, .pick = Pick::value});
  for (std::int64_t value = 0; value < 11 * 12; value += 3) {
    ASSERT_TRUE(done(add(prime, {.value = value})));
    ASSERT_TRUE(done(add(composite, {.value = value})));
  }
  for (const auto& slot : slots(prime)) EXPECT_EQ(slot.n, 4) << slot.slot;
  EXPECT_EQ(used(slots(composite)), (std::set<int>{0, 3, 6, 9}));
}

TEST_P(Picks, AGivenSlotIsUsedWhateverThePick) {
  for (const auto& [name, pick] : {std::pair{"by_session", Pick::session},
                                   {"by_spread", Pick::spread},
                                   {"by_random", Pick::random},
                                   {"by_free", Pick::free}}) {
    auto counter = make(name, {.key = "page", .slots = 8, .pick = pick});
    for (const int slot : {6, 0, 6}) ASSERT_TRUE(done(add(counter, {.key = "a", .slot = slot})));
    EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{0, 1}, {6, 2}})) << name;
  }
}

}  // namespace
}  // namespace splitcount::contract
