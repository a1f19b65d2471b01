#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <map>

#include <fmt/format.h>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

using Adds = TestDatabase;

Rule once(std::optional<std::chrono::seconds> window = std::nullopt) {
  auto rule = by_page();
  rule.slots = 11;
  rule.pick = Pick::random;
  rule.retries = {.once = true, .window = window};
  return rule;
}

TEST_F(Adds, MergesTheSameKeyOfOneCall) {
  const auto counter = define("page_views", by_page());
  ASSERT_TRUE(apply(counter, {to_key("k", 1), to_key("other", 7), to_key("k", 2), to_key("k", 3)}));
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|6 other|7");
}

TEST_F(Adds, KeepsKeysApartThatLookAlike) {
  const auto counter = define("page_views", by_page());
  const std::string long_key(299, 'x');
  const std::string first = long_key + "1", second = long_key + "2";
  const std::vector<std::string_view> keys{"Ab",  "ab",   "AB", "ab ", "\xC3\xA9", "e\xCC\x81",
                                           first, second, "11", "011", "1.1e1"};
  std::vector<ReadyAdd> adds;
  for (const auto key : keys) adds.push_back(to_key(key));
  ASSERT_TRUE(apply(counter, adds));
  for (const auto key : keys) {
    const auto total = connection().total(counter, key);
    ASSERT_TRUE(total && *total) << key;
    EXPECT_EQ((*total)->total, 1) << key;
    EXPECT_EQ((*total)->slots, 1) << key;
  }
}

TEST_F(Adds, GoesBelowZeroAndBack) {
  const auto counter = define("page_views", by_page());
  EXPECT_EQ(add(counter, to_key("k", -1)), "0");
  EXPECT_EQ((*connection().total(counter, "k"))->total, -1);
  EXPECT_EQ(add(counter, to_key("k", 1)), "0");
  EXPECT_EQ((*connection().total(counter, "k"))->total, 0);
}

TEST_F(Adds, KeepsTheValueWhereAnAddWouldLeaveSixtyFourBits) {
  const auto counter = define("page_views", by_page());
  EXPECT_EQ(add(counter, to_key("k", highest)), "0");
  EXPECT_EQ(add(counter, to_key("k", 1)), "out_of_range");
  EXPECT_EQ(add(counter, to_key("k", -1)), "0");
  EXPECT_EQ((*connection().total(counter, "k"))->total, highest - 1);
  EXPECT_EQ(add(counter, to_key("low", lowest)), "0");
  EXPECT_EQ(add(counter, to_key("low", -1)), "out_of_range");
  EXPECT_EQ(plain().rows("SELECT n, typeof(n) FROM page_views_slots WHERE page = 'low'"),
            "-9223372036854775808|integer");
}

TEST_F(Adds, WritesNothingWhereOneOfThemIsRefusedAndAllMustCount) {
  const auto counter = define("page_views", by_page());
  EXPECT_EQ(add(counter, to_key("full", highest)), "0");
  const auto applied = apply(counter, {to_key("a"), to_key("full"), to_key("b")});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::out_of_range);
  EXPECT_FALSE(applied.error().transaction_dead);
  EXPECT_EQ(plain().rows("SELECT page FROM page_views"), "full");
}

TEST_F(Adds, LetsTheTransactionLiveAfterARefusal) {
  const auto counter = define("page_views", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("a", highest)}, Refusal::all));
  EXPECT_EQ(code_of(c.apply(counter, std::vector{to_key("a"), to_key("b")}, Refusal::all)), "out_of_range");
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("c")}, Refusal::all));
  ASSERT_TRUE(c.commit());
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|9223372036854775807 c|1");
}

TEST_F(Adds, GivesEachItsOwnErrorAndCountsTheOthers) {
  auto rule = by_page();
  rule.slots = 2;
  rule.missing = Missing::error;
  const auto counter = define("page_views", rule, {"k", "full"});
  ASSERT_TRUE(apply(counter, {to_key("full", highest)}));
  std::vector<ReadyAdd> adds(100, to_key("k"));
  adds[17] = to_key("full");
  adds[42] = to_key("unknown");
  const auto applied = apply(counter, adds, Refusal::each);
  ASSERT_TRUE(applied);
  for (std::size_t i = 0; i < adds.size(); ++i) {
    EXPECT_EQ(code_of((*applied)[i]), i == 17 ? "out_of_range" : i == 42 ? "key_missing" : "done");
  }
  EXPECT_EQ((*connection().total(counter, "k"))->total, 98);
  EXPECT_EQ((*connection().total(counter, "full"))->total, highest);
}

TEST_F(Adds, TellsAMissingKeyFromAMissingSlot) {
  auto rule = by_page();
  rule.slots = 3;
  rule.missing = Missing::error;
  const auto counter = define("page_views", rule, {"k"});
  EXPECT_EQ(add(counter, to_key("k", 1, 2)), "2");
  EXPECT_EQ(add(counter, to_key("k", 1, 3)), "slot_missing");
  EXPECT_EQ(add(counter, to_key("k", 1, -1)), "slot_missing");
  EXPECT_EQ(add(counter, to_key("l", 1, 0)), "key_missing");
  plain().run("DELETE FROM page_views_slots WHERE slot = 1");
  EXPECT_EQ(add(counter, to_key("k", 1, 1)), "slot_missing");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views_slots"), "k|0|0 k|2|1");
}

TEST_F(Adds, NeedsTheSlotsOfACounterWithoutKey) {
  Rule rule;
  rule.slots = 11;
  rule.pick = Pick::value;
  rule.missing = Missing::error;
  const auto counter = define("prizes_won", rule);
  EXPECT_EQ(plain().rows("SELECT count(*), min(slot), max(slot) FROM prizes_won_slots"), "11|0|10");
  EXPECT_EQ(add(counter, {.key = {}, .amount = 1, .request_id = {}, .slot = 3}), "3");
  EXPECT_EQ(add(counter, {.key = {}, .amount = 1, .request_id = {}, .slot = 12}), "slot_missing");
  plain().run("DELETE FROM prizes_won_slots WHERE slot = 4");
  EXPECT_EQ(add(counter, {.key = {}, .amount = 1, .request_id = {}, .slot = 4}), "slot_missing");
}

TEST_F(Adds, CreatesOnlyTheRowThatItNeeds) {
  auto rule = by_page();
  rule.slots = 8;
  const auto counter = define("page_views", rule);
  EXPECT_EQ(add(counter, to_key("k", 0, 5)), "5");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views_slots"), "k|5|0");
}

TEST_F(Adds, CountsARequestIdOnce) {
  const auto counter = define("page_views", once());
  EXPECT_EQ(add(counter, to_key("k", 1, 4, "X")), "4");
  EXPECT_EQ(add(counter, to_key("k", 1, 7, "X")), "4 replay");
  EXPECT_EQ(add(counter, to_key("k", 5, 4, "X")), "request_conflict");
  EXPECT_EQ(add(counter, to_key("l", 1, 4, "X")), "request_conflict");
  EXPECT_EQ(add(counter, to_key("k", 1, 4)), "4");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|2");
}

TEST_F(Adds, KnowsAnIdThatComesTwiceInOneCall) {
  const auto counter = define("page_views", once());
  const auto applied = apply(counter,
                             {to_key("k", 1, 3, "B"), to_key("k", 1, 5, "A"), to_key("k", 1, 9, "B"),
                              to_key("k", 2, 3, "A"), to_key("l", 1, 3, "B")},
                             Refusal::each);
  ASSERT_TRUE(applied);
  EXPECT_EQ(*(*applied)[0], (Added{3, false}));
  EXPECT_EQ(*(*applied)[1], (Added{5, false}));
  EXPECT_EQ(*(*applied)[2], (Added{3, true}));
  EXPECT_EQ(code_of((*applied)[3]), "request_conflict");
  EXPECT_EQ(code_of((*applied)[4]), "request_conflict");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|2");
}

TEST_F(Adds, LeavesNoIdBehindWhereTheAddIsRefused) {
  const auto counter = define("page_views", once());
  EXPECT_EQ(add(counter, to_key("k", highest, 2)), "2");
  const auto applied =
      apply(counter, {to_key("k", 1, 2, "X"), to_key("k", 1, 2, "X"), to_key("l", 1, 2, "Y")}, Refusal::each);
  ASSERT_TRUE(applied);
  EXPECT_EQ(code_of((*applied)[0]), "out_of_range");
  EXPECT_EQ(code_of((*applied)[1]), "out_of_range");
  EXPECT_EQ(code_of((*applied)[2]), "done");
  EXPECT_EQ(plain().rows("SELECT request_id FROM page_views_requests"), "Y");
  EXPECT_EQ(add(counter, to_key("k", -1, 2)), "2");
  EXPECT_EQ(add(counter, to_key("k", 1, 2, "X")), "2");
  EXPECT_EQ(add(counter, to_key("k", 1, 2, "X")), "2 replay");
}

TEST_F(Adds, LeavesNoIdBehindWhereTheTransactionIsRolledBack) {
  const auto counter = define("page_views", once());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("k", 1, 0, "X")}, Refusal::all));
  c.rollback();
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0");
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0 replay");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|1");
}

TEST_F(Adds, CountsAnExpiredIdAnew) {
  const auto counter = define("page_views", once(std::chrono::seconds(60)));
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0");
  plain().run("UPDATE page_views_requests SET counted = counted - 30000");
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0 replay");
  plain().run("UPDATE page_views_requests SET counted = counted - 30001");
  EXPECT_EQ(add(counter, to_key("l", 5, 7, "X")), "7");
  EXPECT_EQ(add(counter, to_key("l", 5, 0, "X")), "7 replay");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|1 l|5");
}

TEST_F(Adds, TakesTwoExpiredIdsAwayWithEachNewOne) {
  const auto counter = define("page_views", once(std::chrono::seconds(60)));
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(fmt::format("old-{}", i));
  std::vector<ReadyAdd> adds;
  for (const auto& id : ids) adds.push_back(to_key("k", 1, 0, id));
  ASSERT_TRUE(apply(counter, adds));
  plain().run("UPDATE page_views_requests SET counted = counted - 60001");
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "new")), "0");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_requests"), "99");
  EXPECT_NE(
      plain()
          .rows("EXPLAIN QUERY PLAN SELECT request_id FROM page_views_requests WHERE counted <= 5 ORDER BY counted "
                "LIMIT 2")
          .find("USING COVERING INDEX sqlite_autoindex"),
      std::string::npos);
}

TEST_F(Adds, KnowsAnIdForEverWithoutAWindow) {
  const auto counter = define("page_views", once());
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0");
  plain().run("UPDATE page_views_requests SET counted = 0");
  EXPECT_EQ(add(counter, to_key("k", 1, 0, "X")), "0 replay");
}

TEST_F(Adds, KnowsTheIdsOfTheAddViewAndTheReverse) {
  const auto counter = define("page_views", once(std::chrono::hours(1)));
  plain().run("INSERT INTO page_views_add(page, amount, request_id, slot) VALUES ('k', 2, 'X', 6)");
  EXPECT_EQ(add(counter, to_key("k", 2, 1, "X")), "6 replay");
  EXPECT_EQ(add(counter, to_key("k", 3, 1, "Y")), "1");
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, amount, request_id) VALUES ('k', 3, 'Y')"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|5");
}

TEST_F(Adds, RefusesTheRuleOfYesterday) {
  const auto counter = define("page_views", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.drop(counter));
  ASSERT_TRUE(c.create("page_views", once()));
  ASSERT_TRUE(c.commit());
  const auto applied = apply(counter, {to_key("k")});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::rule_changed);
  EXPECT_TRUE(applied.error().retryable);
  const auto again = c.find("page_views");
  ASSERT_TRUE(again && *again);
  EXPECT_GT((*again)->version, counter.version);
  EXPECT_EQ(add(**again, to_key("k")), "0");
}

TEST_F(Adds, FollowsANewRuleOnTheSameConnection) {
  const auto before = define("page_views", by_page());
  EXPECT_EQ(add(before, to_key("k")), "0");
  EXPECT_EQ(connection().total(before, "k").value()->total, 1);
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.drop(before));
  ASSERT_TRUE(c.commit());
  auto rule = once();
  rule.key = "visitor";
  const auto now = define("page_views", rule);
  EXPECT_EQ(add(now, to_key("k", 7, 3, "X")), "3");
  EXPECT_EQ(connection().total(now, "k").value()->total, 7);
  EXPECT_EQ(plain().rows("SELECT visitor, total FROM page_views"), "k|7");
}

TEST_F(Adds, RefusesTheRuleOfBeforeAnUninstall) {
  const auto before = define("page_views", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.drop(before));
  ASSERT_TRUE(c.uninstall());
  ASSERT_TRUE(c.commit());
  EXPECT_EQ(add(before, to_key("k")), "not_installed");
  const auto now = define("page_views", once());
  EXPECT_EQ(now.version, before.version);
  EXPECT_EQ(add(before, to_key("k")), "rule_changed");
}

TEST_F(Adds, SaysThatTheTransactionIsDeadWhereAWriteFails) {
  const auto counter = define("page_views", by_page());
  // A constraint of the user's own, which only the second row meets.
  plain().run(
      "CREATE TRIGGER stop BEFORE INSERT ON page_views_slots WHEN NEW.page = 'b' BEGIN SELECT RAISE(ABORT, 'no'); END");
  const auto applied = apply(counter, {to_key("a"), to_key("b")});
  ASSERT_FALSE(applied);
  EXPECT_TRUE(applied.error().transaction_dead);
  EXPECT_EQ(applied.error().code, ErrorCode::internal);
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "");
}

TEST_F(Adds, CountsOverflowsOneByOneInTheOrderGiven) {
  const auto counter = define("page_views", by_page());
  ASSERT_TRUE(apply(counter, {to_key("k", highest - 1)}));
  const auto applied =
      apply(counter, {to_key("k", 1), to_key("k", 1), to_key("k", -5), to_key("k", highest)}, Refusal::each);
  ASSERT_TRUE(applied);
  std::string codes;
  for (const auto& result : *applied) codes += code_of(result) + " ";
  EXPECT_EQ(codes, "done out_of_range done out_of_range ");
  EXPECT_EQ((*connection().total(counter, "k"))->total, highest - 5);
}

TEST_F(Adds, CountWhatAModelCounts) {
  auto rule = by_page();
  rule.slots = 3;
  rule.pick = Pick::random;
  const auto counter = define("page_views", rule);
  std::map<std::pair<std::string, int>, std::int64_t> model;
  EXPECT_TRUE(rc::check([&, this] {
    const auto amounts = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-1'000, 1'000));
    std::vector<std::string> keys;
    std::vector<ReadyAdd> adds;
    keys.reserve(amounts.size());
    for (const auto amount : amounts) {
      keys.push_back(*rc::gen::element<std::string>("a", "b", "\xC3\xA9"));
      adds.push_back(to_key(keys.back(), amount, *rc::gen::inRange(0, 3)));
      model[{keys.back(), *adds.back().slot}] += amount;
    }
    RC_ASSERT(apply(counter, adds).has_value());
    std::map<std::pair<std::string, int>, std::int64_t> stored;
    for (const std::string key : {"a", "b", "\xC3\xA9"}) {
      const auto slots = connection().slots(counter, key);
      for (const auto& slot : *slots) stored[{key, slot.slot}] = slot.n;
    }
    RC_ASSERT(stored == model);
  }));
}

}  // namespace
}  // namespace splitcount::engine::sqlite
