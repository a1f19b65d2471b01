#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

class Reads : public TestDatabase {
 protected:
  StoredCounter sixteen_slots() {
    auto rule = by_page();
    rule.slots = 16;
    rule.pick = Pick::random;
    return define("page_views", rule);
  }
  void store(std::string_view key, std::initializer_list<std::int64_t> values) {
    int slot = 0;
    for (const auto n : values) {
      EXPECT_EQ(
          plain().run(fmt::format("INSERT INTO page_views_add(page, amount, slot) VALUES ('{}', CAST('{}' AS INTEGER), "
                                  "{})",
                                  key, n, slot++)),
          "");
    }
  }
};

TEST_F(Reads, AddUpWhereASumOnTheWayLeavesSixtyFourBits) {
  const auto counter = sixteen_slots();
  store("k", {highest, highest, lowest, lowest, 3'000'000'000});
  EXPECT_EQ(connection().total(counter, "k").value()->total, 2'999'999'998);
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|2999999998");
  EXPECT_EQ(plain().rows("SELECT sum(n) FROM page_views_slots"), "integer overflow");
}

TEST_F(Reads, AreExactAtTheEnds) {
  const auto counter = sixteen_slots();
  store("top", {highest - 1, 1});
  store("low", {lowest + 1, -1});
  store("past", {9'007'199'254'740'992, 1});
  EXPECT_EQ(connection().total(counter, "top").value()->total, highest);
  EXPECT_EQ(connection().total(counter, "low").value()->total, lowest);
  EXPECT_EQ(connection().total(counter, "past").value()->total, 9'007'199'254'740'993);
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"),
            "low|-9223372036854775808 past|9007199254740993 top|9223372036854775807");
}

TEST_F(Reads, RefuseATotalOutsideSixtyFourBits) {
  const auto counter = sixteen_slots();
  store("high", {highest, 1});
  store("low", {lowest, -1});
  store("fine", {7});
  EXPECT_EQ(code_of(connection().total(counter, "high")), "out_of_range");
  EXPECT_EQ(code_of(connection().total(counter, "low")), "out_of_range");
  EXPECT_EQ(code_of(connection().totals(counter, std::vector<std::string>{"fine", "high"})), "out_of_range");
  EXPECT_EQ(code_of(connection().top(counter, 1)), "out_of_range");
  EXPECT_EQ(connection().total(counter, std::nullopt).value()->total, 7 - 1);  // the two ends add up to -1
  EXPECT_EQ(plain().rows("SELECT total FROM page_views WHERE page = 'high'"), "integer overflow");
  EXPECT_EQ(plain().rows("SELECT total FROM page_views WHERE page = 'low'"), "integer overflow");
  EXPECT_EQ(plain().rows("SELECT total FROM page_views WHERE page = 'fine'"), "7");
}

TEST_F(Reads, OfOneKeySearchThePrimaryKey) {
  sixteen_slots();
  const auto plan = plain().rows("EXPLAIN QUERY PLAN SELECT total FROM page_views WHERE page = 'k'");
  EXPECT_NE(plan.find("SEARCH page_views_slots USING PRIMARY KEY (page=?)"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("SCAN page_views_slots"), std::string::npos) << plan;
}

TEST_F(Reads, GiveTheDatabasesClock) {
  const auto counter = sixteen_slots();
  store("k", {1});
  const auto before = now_utc() - std::chrono::milliseconds(1);
  const auto total = connection().total(counter, "k");
  ASSERT_TRUE(total && *total);
  EXPECT_GE((*total)->as_of, before);
  EXPECT_LE((*total)->as_of, now_utc() + std::chrono::milliseconds(1));
  EXPECT_TRUE((*total)->live);
}

TEST_F(Reads, TellNothingFromZero) {
  const auto counter = sixteen_slots();
  EXPECT_FALSE(connection().total(counter, "k").value());
  EXPECT_FALSE(connection().total(counter, std::nullopt).value());
  store("k", {5, -5});
  EXPECT_EQ(connection().total(counter, "k").value()->total, 0);
  EXPECT_EQ(connection().total(counter, "k").value()->slots, 2);
}

TEST_F(Reads, OfSeveralKeysComeInTheOrderAskedFor) {
  const auto counter = sixteen_slots();
  const std::vector<std::string> keys{"b", "none", "\"\\/{}", "a", "\x01\n\t", "\xC3\xA9", "11"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != "none") {
      EXPECT_EQ(add(counter, to_key(keys[i], static_cast<std::int64_t>(i) + 1, 3)), "3");
    }
  }
  const auto totals = connection().totals(counter, keys);
  ASSERT_TRUE(totals);
  ASSERT_EQ(totals->size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*totals)[i].key, keys[i]);
    EXPECT_EQ((*totals)[i].slots, keys[i] == "none" ? 0 : 1);
    EXPECT_EQ((*totals)[i].total, keys[i] == "none" ? 0 : static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ((*totals)[i].as_of, totals->front().as_of);
  }
  EXPECT_TRUE(connection().totals(counter, {})->empty());
}

TEST_F(Reads, OfTheTopComeLargestFirstAndEqualOnesByBytes) {
  const auto counter = sixteen_slots();
  store("b", {2, 3});
  store("a", {5});
  store("z", {highest});
  store("neg", {-1});
  store("B", {5});
  const auto top = connection().top(counter, 4);
  ASSERT_TRUE(top);
  std::string order;
  for (const auto& total : *top) order += *total.key + ":" + std::to_string(total.total) + " ";
  EXPECT_EQ(order, "z:9223372036854775807 B:5 a:5 b:5 ");
  EXPECT_EQ((*top)[3].slots, 2);
  EXPECT_EQ(connection().keys(counter).value(), 5);
}

TEST_F(Reads, OfSlotsComeInOrder) {
  const auto counter = sixteen_slots();
  store("k", {7, -8, 9});
  store("other", {1});
  EXPECT_EQ(connection().slots(counter, "k").value(), (std::vector<Slot>{{0, 7}, {1, -8}, {2, 9}}));
  EXPECT_TRUE(connection().slots(counter, "none")->empty());
}

TEST_F(Reads, OfACounterWithoutKey) {
  Rule rule;
  rule.slots = 2;
  rule.pick = Pick::random;
  const auto counter = define("prizes_won", rule);
  EXPECT_FALSE(connection().total(counter, std::nullopt).value());
  EXPECT_TRUE(connection().top(counter, 5)->empty());
  plain().run("INSERT INTO prizes_won_add(amount, slot) VALUES (9223372036854775807, 0), (-7, 1)");
  const auto total = connection().total(counter, std::nullopt);
  ASSERT_TRUE(total && *total);
  EXPECT_EQ((*total)->total, highest - 7);
  EXPECT_EQ((*total)->key, std::nullopt);
  EXPECT_EQ(connection().top(counter, 5)->size(), 1U);
  EXPECT_EQ(connection().slots(counter, "").value(), (std::vector<Slot>{{0, highest}, {1, -7}}));
  EXPECT_EQ(connection().keys(counter).value(), 0);
  plain().run("INSERT INTO prizes_won_add(amount, slot) VALUES (8, 1)");
  EXPECT_EQ(plain().rows("SELECT * FROM prizes_won"), "integer overflow");
  EXPECT_EQ(code_of(connection().total(counter, std::nullopt)), "out_of_range");
}

TEST_F(Reads, OfADroppedCounterSaySo) {
  const auto counter = sixteen_slots();
  store("k", {1});
  ASSERT_TRUE(connection().total(counter, "k"));
  auto other = connect(false);
  ASSERT_TRUE(other->begin(soon()));
  ASSERT_TRUE(other->drop(counter));
  ASSERT_TRUE(other->commit());
  EXPECT_EQ(code_of(connection().total(counter, "k")), "unknown_counter");
  EXPECT_EQ(code_of(connection().top(counter, 1)), "unknown_counter");
  EXPECT_EQ(code_of(connection().slots(counter, "k")), "unknown_counter");
  EXPECT_EQ(code_of(connection().keys(counter)), "unknown_counter");
}

TEST_F(Reads, LeaveNoSnapshotOpen) {
  const auto counter = sixteen_slots();
  store("k", {1});
  ASSERT_TRUE(connection().total(counter, "k"));
  ASSERT_TRUE(connection().top(counter, 10));
  ASSERT_TRUE(connection().slots(counter, "k"));
  EXPECT_EQ(plain().rows("PRAGMA wal_checkpoint(TRUNCATE)"), "0|0|0");
}

TEST_F(Reads, OfTheStatusTellTheDurability) {
  define("page_views", by_page());
  auto status = connection().status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->engine, "sqlite");
  EXPECT_EQ(status->engine_version, sqlite3_libversion());
  EXPECT_EQ(status->durability, "synced WAL commit");
  EXPECT_EQ(status->schema_version, 1);
  EXPECT_GT(status->size_bytes, 4'096);
  EXPECT_TRUE(status->warnings.empty());
  disconnect();
  EXPECT_EQ(plain().rows("PRAGMA journal_mode = DELETE"), "delete");
  status = connection().status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->durability, "synced rollback-journal commit (delete)");
  EXPECT_EQ(status->warnings.size(), 1U);
}

}  // namespace
}  // namespace splitcount::engine::sqlite
