// Request ids: a retry is known as a retry, at every door.
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

const Retries for_ever{true, {}};

class Requests : public EveryDoor {
 protected:
  void expect_replay(const Result<Told>& answer, bool replay) {
    ASSERT_TRUE(done(answer));
    if (answer->replay) {
      EXPECT_EQ(*answer->replay, replay);
    }
  }
};
SPLITCOUNT_AT_EVERY_DOOR(Requests);

TEST_P(Requests, CountOnceHoweverOftenTheyAreSent) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = for_ever});
  const Add wanted{.key = "k", .amount = 3, .request_id = "7f3a"};
  const auto first = add(counter, wanted);
  expect_replay(first, false);
  for (int i = 0; i < 4; ++i) {
    const auto again = add(counter, wanted);
    expect_replay(again, true);
    EXPECT_EQ(again->slot, first->slot) << "the answer equals the first";
  }
  EXPECT_EQ(total(counter, "k"), 3);
}

TEST_P(Requests, AreKnownToEveryDoorAndProgram) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = for_ever});
  const Add wanted{.key = "k", .request_id = "r1"};
  expect_replay(add(counter, wanted), false);
  auto other = another();
  auto theirs = other.counter("page_views").value_or_throw();
  for (const auto kind : {DoorKind::own, DoorKind::caller, DoorKind::sql, DoorKind::combined}) {
    expect_replay(open_door(kind, *stand_, other)->add(theirs, wanted), true);
  }
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_P(Requests, WithAnotherAmountOrKeyAreRefused) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  expect_replay(add(counter, {.key = "K", .amount = 1, .request_id = "X"}), false);
  EXPECT_TRUE(refused(add(counter, {.key = "K", .amount = 5, .request_id = "X"}), ErrorCode::request_conflict));
  EXPECT_TRUE(refused(add(counter, {.key = "L", .amount = 1, .request_id = "X"}), ErrorCode::request_conflict));
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = 1, .request_id = "X"}), ErrorCode::request_conflict));
  expect_replay(add(counter, {.key = "K", .amount = 1, .request_id = "X"}), true);
  EXPECT_EQ(total(counter, "K"), 1);
  EXPECT_EQ(counter.keys().value_or_throw(), 1) << "a refused add creates no row";
}

TEST_P(Requests, OfDifferentBytesAreDifferentIds) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  int sent = 0;
  for (const std::string id : {"Ab", "ab", "ab ", " ab", "\xc3\xa9", "e\xcc\x81", "11", "011", "1.1e1", "11.0", "NULL",
                               "\xef\xbf\xbd", "'", "\"", "%", "\\"}) {
    expect_replay(add(counter, {.key = "k", .request_id = id}), false);
    EXPECT_EQ(total(counter, "k"), ++sent) << id;
  }
}

TEST_P(Requests, BelongToTheirCounter) {
  auto one = make("one", {.key = "page", .retries = for_ever});
  auto two = make("two", {.key = "page", .retries = for_ever});
  expect_replay(add(one, {.key = "k", .request_id = "r1"}), false);
  expect_replay(add(two, {.key = "other", .amount = 9, .request_id = "r1"}), false);
  EXPECT_EQ(total(one, "k"), 1);
  EXPECT_EQ(total(two, "other"), 9);
}

TEST_P(Requests, TakeOneTo128BytesOfUtf8) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  expect_replay(add(counter, {.key = "k", .request_id = std::string(128, 'r')}), false);
  EXPECT_TRUE(refused(add(counter, {.key = "k", .request_id = std::string(129, 'r')}), ErrorCode::request_id_invalid));
  const auto with_zero_byte = add(counter, {.key = "k", .request_id = std::string_view("a\0b", 3)});
  if (by_sql() && traits().sql_checks_utf8) {
    EXPECT_FALSE(with_zero_byte.has_value());  // by the database itself, in its own words
  } else {
    EXPECT_TRUE(refused(with_zero_byte, ErrorCode::request_id_invalid));
  }
  if (!by_sql()) {
    EXPECT_TRUE(refused(add(counter, {.key = "k", .request_id = "\xff"}), ErrorCode::request_id_invalid));
  }
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_P(Requests, CountPlainlyWithoutAnId) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  for (int i = 0; i < 5; ++i) expect_replay(add(counter, {.key = "k"}), false);
  EXPECT_EQ(total(counter, "k"), 5);
}

TEST_P(Requests, OfAnAddOfNothingAreKnownToo) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  expect_replay(add(counter, {.key = "k", .amount = 0, .request_id = "r1"}), false);
  expect_replay(add(counter, {.key = "k", .amount = 0, .request_id = "r1"}), true);
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = 1, .request_id = "r1"}), ErrorCode::request_conflict));
}

TEST_P(Requests, TwiceInOneCallCountOnce) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = for_ever});
  const std::vector<Add> adds{{.key = "k", .amount = 2, .request_id = "r1"},
                              {.key = "k", .amount = 1},
                              {.key = "k", .amount = 2, .request_id = "r1"},
                              {.key = "k", .amount = 4, .request_id = "r2"}};
  const auto answers = door_->add_many(counter, adds);
  expect_replay(answers[0], false);
  expect_replay(answers[2], true);
  expect_replay(answers[3], false);
  EXPECT_EQ(total(counter, "k"), 7);
}

TEST_P(Requests, TwiceInOneCallWithAnotherAmountAreRefused) {
  auto counter = make("page_views", {.key = "page", .retries = for_ever});
  const std::vector<Add> adds{{.key = "k", .amount = 1, .request_id = "r1"},
                              {.key = "k", .amount = 5, .request_id = "r1"}};
  const auto answers = door_->add_many(counter, adds);
  EXPECT_TRUE(refused(answers[1], ErrorCode::request_conflict));
  EXPECT_EQ(total(counter, "k"), door_->all_or_nothing() ? 0 : 1);
}

TEST_P(Requests, OfARefusedCallAreNotUsedUp) {
  auto counter = make("prizes", {.key = "prize", .missing = Missing::error, .retries = for_ever}, {"car"});
  EXPECT_TRUE(refused(add(counter, {.key = "boat", .request_id = "r1"}), ErrorCode::key_missing));
  expect_replay(add(counter, {.key = "car", .request_id = "r1"}), false);
  if (door_->all_or_nothing()) {
    const std::vector<Add> adds{{.key = "car", .request_id = "r2"}, {.key = "boat", .request_id = "r3"}};
    for (const auto& answer : door_->add_many(counter, adds)) EXPECT_TRUE(refused(answer, ErrorCode::key_missing));
    expect_replay(add(counter, {.key = "car", .request_id = "r2"}), false);
  }
  expect_replay(add(counter, {.key = "car", .request_id = "r3"}), false);
  EXPECT_EQ(total(counter, "car"), door_->all_or_nothing() ? 3 : 2);
}

TEST_P(Requests, KeepTheSlotGivenAtFirst) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .retries = for_ever});
  expect_replay(add(counter, {.key = "k", .request_id = "r1", .slot = 2}), false);
  const auto again = add(counter, {.key = "k", .request_id = "r1"});
  expect_replay(again, true);
  if (again->slot) {
    EXPECT_EQ(*again->slot, 2);
  }
  EXPECT_EQ(slots(counter, "k"), (std::vector<Slot>{{2, 1}}));
}

TEST_P(Requests, CountAnewAfterTheWindowAlsoBeforeAnyPurge) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::seconds(1)}});
  expect_replay(add(counter, {.key = "k", .request_id = "r1"}), false);
  std::this_thread::sleep_for(std::chrono::milliseconds(1'200));
  expect_replay(add(counter, {.key = "k", .amount = 10, .request_id = "r1"}), false);
  EXPECT_EQ(total(counter, "k"), 11) << "an expired id is free for another amount";
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = 7, .request_id = "r1"}), ErrorCode::request_conflict) ||
              total(counter, "k") == 18)
      << "a new window began with the second add, unless it has passed too";
}

TEST_P(Requests, AreKnownWithinALongWindow) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::hours(24)}});
  expect_replay(add(counter, {.key = "k", .request_id = "r1"}), false);
  expect_replay(add(counter, {.key = "k", .request_id = "r1"}), true);
  EXPECT_EQ(total(counter, "k"), 1);
}

class RequestsAtOnce : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(RequestsAtOnce);

TEST_P(RequestsAtOnce, TheSameIdFromManyProgramsCountsOnce) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = for_ever});
  constexpr int programs = 8;
  constexpr int ids = 25;
  std::vector<std::jthread> threads;
  std::vector<int> counted(programs, 0);
  for (int program = 0; program < programs; ++program) {
    threads.emplace_back([&, program] {
      auto mine = another().counter("page_views").value_or_throw();
      for (int id = 0; id < ids; ++id) {
        const std::string name = "r" + std::to_string(id);
        auto added = mine.add({.key = "k", .request_id = name});
        while (!added && added.error().code == ErrorCode::request_in_flight) {
          added = mine.add({.key = "k", .request_id = name});
        }
        EXPECT_TRUE(done(added));
        if (added && !added->replay) ++counted[static_cast<std::size_t>(program)];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  int sum = 0;
  for (const int count : counted) sum += count;
  EXPECT_EQ(sum, ids) << "each id was new for exactly one";
  EXPECT_EQ(total(counter, "k"), ids);
}

}  // namespace
}  // namespace splitcount::contract
