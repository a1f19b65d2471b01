// Reads: each from one statement, with as-of time and freshness.
#include <atomic>
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class Totals : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(Totals);

TEST_P(Totals, SayKeyValueFreshnessTimeAndSlots) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  for (const int slot : {0, 2, 3}) ASSERT_TRUE(done(counter.add({.key = "a", .amount = 5, .slot = slot})));
  const auto read = counter.total("a");
  ASSERT_TRUE(done(read));
  EXPECT_EQ(read->key, "a");
  EXPECT_EQ(read->total, 15);
  EXPECT_TRUE(read->live);
  EXPECT_EQ(read->slots, 3);
  const auto again = counter.total("a").value_or_throw();
  EXPECT_GE(again.as_of, read->as_of) << "the database's clock goes on";
  EXPECT_GT(read->as_of, Instant(std::chrono::hours(24 * 365 * 50)));
}

TEST_P(Totals, OfAllKeysAreTheSumWithoutAKey) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  ASSERT_TRUE(done(counter.add({.key = "a", .amount = 5, .slot = 1})));
  ASSERT_TRUE(done(counter.add({.key = "a", .amount = 5, .slot = 3})));
  ASSERT_TRUE(done(counter.add({.key = "b", .amount = -2})));
  const auto read = counter.total();
  ASSERT_TRUE(done(read));
  EXPECT_FALSE(read->key.has_value());
  EXPECT_EQ(read->total, 8);
  EXPECT_EQ(read->slots, 3);
}

TEST_P(Totals, OfACounterWithoutAKeyHaveNoKey) {
  auto counter = make("prizes_won", {.slots = 3});
  ASSERT_TRUE(done(counter.add({.amount = 4})));
  const auto read = counter.total();
  ASSERT_TRUE(done(read));
  EXPECT_FALSE(read->key.has_value());
  EXPECT_EQ(read->total, 4);
  EXPECT_EQ(read->slots, 3);
  EXPECT_TRUE(refused(counter.total("a"), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(counter.slots("a"), ErrorCode::key_invalid));
}

TEST_P(Totals, OfAKeyThatWasNeverCountedAreZeroOrMissing) {
  auto creating = make("page_views", {.key = "page", .missing = Missing::create});
  const auto read = creating.total("never");
  ASSERT_TRUE(done(read));
  EXPECT_EQ(read->total, 0);
  EXPECT_EQ(read->slots, 0);
  EXPECT_EQ(read->key, "never");
  EXPECT_EQ(total(creating), 0) << "the sum over no rows";
  auto refusing = make("prizes", {.key = "prize", .missing = Missing::error}, {"car"});
  EXPECT_TRUE(refused(refusing.total("boat"), ErrorCode::key_missing));
  EXPECT_EQ(total(refusing, "car"), 0);
  const std::vector<std::string> keys{"car", "boat"};
  EXPECT_TRUE(refused(refusing.totals(keys), ErrorCode::key_missing));
}

TEST_P(Totals, OfSeveralKeysComeInTheOrderGiven) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "a", .amount = 1})));
  ASSERT_TRUE(done(counter.add({.key = "b", .amount = 2})));
  const std::vector<std::string> keys{"b", "never", "a", "b"};
  const auto totals = counter.totals(keys);
  ASSERT_TRUE(done(totals));
  ASSERT_EQ(totals->size(), 4U);
  EXPECT_EQ((*totals)[0].total, 2);
  EXPECT_EQ((*totals)[1].total, 0);
  EXPECT_EQ((*totals)[2].total, 1);
  EXPECT_EQ((*totals)[3].total, 2) << "a key that is asked for twice is answered twice";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*totals)[i].key, keys[i]);
    EXPECT_EQ((*totals)[i].as_of, totals->front().as_of) << "one snapshot";
  }
  EXPECT_TRUE(done(counter.totals({})));
}

TEST_P(Totals, OfManyKeysInOneCall) {
  auto counter = make("page_views", {.key = "page"});
  std::vector<std::string> keys;
  for (int i = 0; i < 5'000; ++i) keys.push_back("key" + std::to_string(i));
  std::vector<Add> adds;
  for (std::size_t i = 0; i < keys.size(); ++i) adds.push_back({.key = keys[i], .amount = static_cast<int>(i)});
  ASSERT_TRUE(done(counter.add(adds)));
  const auto totals = counter.totals(keys);
  ASSERT_TRUE(done(totals));
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ((*totals)[i].total, static_cast<std::int64_t>(i));
}

TEST_P(Totals, TopGivesTheLargestFirstAndTiesByKeyBytes) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  for (const auto& [key, amount] : {std::pair{"b", 5}, {"B", 5}, {"a", 5}, {"big", 9}, {"\xc3\xa9", 5}, {"low", -3}}) {
    ASSERT_TRUE(done(counter.add({.key = key, .amount = amount - 1, .slot = 0})));
    ASSERT_TRUE(done(counter.add({.key = key, .amount = 1, .slot = 1})));
  }
  const auto top = counter.top(100);
  ASSERT_TRUE(done(top));
  std::vector<std::string> order;
  for (const auto& one : *top) order.push_back(one.key.value_or("none"));
  EXPECT_EQ(order, (std::vector<std::string>{"big", "B", "a", "b", "\xc3\xa9", "low"}));
  EXPECT_EQ(top->front().total, 9);
  EXPECT_EQ(top->front().slots, 2);
  const auto two = counter.top(2).value_or_throw();
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1].key, "B");
}

TEST_P(Totals, TopTakesOneToAHundredThousand) {
  auto counter = make("page_views", {.key = "page"});
  EXPECT_TRUE(refused(counter.top(0), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(counter.top(-1), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(counter.top(100'001), ErrorCode::invalid_argument));
  const auto none = counter.top(100'000);
  ASSERT_TRUE(done(none));
  EXPECT_TRUE(none->empty());
}

TEST_P(Totals, SlotsComeInOrderAndOnlyThoseThatThereAre) {
  auto counter = make("page_views", {.key = "page", .slots = 200});
  for (const int slot : {100, 3, 11}) ASSERT_TRUE(done(counter.add({.key = "a", .amount = slot, .slot = slot})));
  EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{3, 3}, {11, 11}, {100, 100}}));
  EXPECT_TRUE(refused(counter.slots(), ErrorCode::key_invalid));
}

TEST_P(Totals, AreFromOneSnapshotBesideAWriterThatMovesAmounts) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  constexpr int reads = 300;
  ASSERT_TRUE(done(counter.add({.key = "a", .amount = 1'000})));
  ASSERT_TRUE(done(counter.add({.key = "b", .amount = 1'000})));
  std::atomic<bool> stop{false};
  std::atomic<int> moves{0};
  std::jthread writer([&] {
    auto mine = another().counter("page_views").value_or_throw();
    while (!stop) {
      const std::vector<Add> there{{.key = "a", .amount = -7}, {.key = "b", .amount = 7}};
      const std::vector<Add> back{{.key = "b", .amount = -7}, {.key = "a", .amount = 7}};
      EXPECT_TRUE(done(mine.add(moves % 2 == 0 ? there : back)));
      ++moves;
    }
  });
  const std::vector<std::string> keys{"a", "b"};
  for (int i = 0; i < reads || moves < 10; ++i) {
    const auto both = counter.totals(keys).value_or_throw();
    EXPECT_EQ(both[0].total + both[1].total, 2'000);
    EXPECT_EQ(counter.total().value_or_throw().total, 2'000);
    std::int64_t sum = 0;
    for (const auto& one : counter.top(10).value_or_throw()) sum += one.total;
    EXPECT_EQ(sum, 2'000);
  }
  stop = true;
  writer.join();
}

TEST_P(Totals, LieBetweenTheAddsAnsweredBeforeAndThoseSentBeforeTheEnd) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  constexpr int reads = 300;
  std::atomic<std::int64_t> sent{0};
  std::atomic<std::int64_t> answered{0};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&] {
      auto mine = another().counter("page_views").value_or_throw();
      while (!stop) {
        ++sent;
        EXPECT_TRUE(done(mine.add({.key = "k"})));
        ++answered;
      }
    });
  }
  std::int64_t last = 0;
  for (int i = 0; i < reads || answered < 30; ++i) {
    const auto at_least = answered.load();
    const auto read = total(counter, "k");
    const auto at_most = sent.load();
    EXPECT_GE(read, at_least);
    EXPECT_LE(read, at_most);
    EXPECT_GE(read, last) << "a reader never sees the total drop";
    last = read;
  }
  stop = true;
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(total(counter, "k"), answered);
}

}  // namespace
}  // namespace splitcount::contract
