// What an add does and what it refuses, at every door.
#include <algorithm>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class Adds : public EveryDoor {};
SPLITCOUNT_AT_EVERY_DOOR(Adds);

TEST_P(Adds, CountByTheirAmounts) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  for (const std::int64_t amount : {1, 41, -7, 0}) {
    EXPECT_TRUE(done(add(counter, {.key = "/home", .amount = amount}))) << amount;
  }
  EXPECT_EQ(total(counter, "/home"), 35);
}

TEST_P(Adds, CountACounterWithoutAKey) {
  auto counter = make("prizes_won", {.slots = 3});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(done(add(counter, {.amount = 2})));
  EXPECT_EQ(total(counter), 10);
}

TEST_P(Adds, AreSeenByEveryProgramOnceAnswered) {
  auto counter = make("page_views", {.key = "page"});
  auto other = another();
  auto theirs = other.counter("page_views").value_or_throw();
  auto session = stand_->session();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(done(add(counter, {.key = "a"})));
    EXPECT_EQ(total(theirs, "a"), i);
    const auto rows = session->rows("SELECT total FROM page_views WHERE page = 'a'");
    ASSERT_TRUE(ran(rows));
    EXPECT_EQ(*rows, (Rows{{std::to_string(i)}}));
  }
}

TEST_P(Adds, OfNothingCountAsAddsThatChangeNothing) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "a", .amount = 0})));
  EXPECT_EQ(total(counter, "a"), 0);
  EXPECT_EQ(counter.keys().value_or_throw(), 1) << "the row was created";
}

TEST_P(Adds, GoBelowZeroAndBack) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "a", .amount = -1})));
  EXPECT_EQ(total(counter, "a"), -1);
  ASSERT_TRUE(done(add(counter, {.key = "a", .amount = 1})));
  EXPECT_EQ(total(counter, "a"), 0);
}

TEST_P(Adds, CreateTheOneRowThatTheyNeed) {
  auto counter = make("page_views", {.key = "page", .slots = 8, .missing = Missing::create});
  ASSERT_TRUE(done(add(counter, {.key = "a", .slot = 5})));
  EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{5, 1}}));
  EXPECT_EQ(slots(counter, "b"), std::vector<Slot>{});
}

TEST_P(Adds, ToAKeyThatWasNeverDefinedAreRefusedWhereMissingIsAnError) {
  auto counter = make("prizes", {.key = "prize", .slots = 2, .missing = Missing::error}, {"car"});
  EXPECT_TRUE(refused(add(counter, {.key = "boat"}), ErrorCode::key_missing));
  EXPECT_TRUE(refused(add(counter, {.key = "boat", .slot = 1}), ErrorCode::key_missing));
  EXPECT_TRUE(refused(counter.slots("boat"), ErrorCode::key_missing));
  EXPECT_EQ(counter.keys().value_or_throw(), 1);
  EXPECT_TRUE(done(add(counter, {.key = "car"})));
  EXPECT_EQ(total(counter), 1);
}

TEST_P(Adds, ToASlotOutsideTheRuleAreRefused) {
  auto keyed = make("page_views", {.key = "page", .slots = 4, .missing = Missing::create});
  auto plain = make("prizes_won", {.slots = 11});
  for (const int slot : {-1, 4, 11, 1023, 1024, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(refused(add(keyed, {.key = "a", .slot = slot}), ErrorCode::slot_missing)) << slot;
  }
  for (const int slot : {-1, 11, 12}) {
    EXPECT_TRUE(refused(add(plain, {.slot = slot}), ErrorCode::slot_missing)) << slot;
  }
  EXPECT_EQ(keyed.keys().value_or_throw(), 0);
  EXPECT_EQ(total(plain), 0);
  EXPECT_EQ(slots(plain).size(), 11U);
}

TEST_P(Adds, WithoutAKeyAreRefusedWhereTheCounterHasOne) {
  auto counter = make("page_views", {.key = "page"});
  EXPECT_TRUE(refused(add(counter, {.key = ""}), ErrorCode::key_invalid));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Adds, WithAKeyAreRefusedWhereTheCounterHasNone) {
  if (by_sql()) return;  // plain SQL has no column to put one in
  auto counter = make("prizes_won", {});
  EXPECT_TRUE(refused(add(counter, {.key = "a"}), ErrorCode::key_invalid));
  EXPECT_EQ(total(counter), 0);
}

TEST_P(Adds, WithAValueAreRefusedWherePickIsAnother) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  EXPECT_TRUE(refused(add(counter, {.key = "a", .value = 3}), ErrorCode::value_invalid));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Adds, WithoutAValueAreRefusedWherePickIsValue) {
  auto counter = make("prizes_won", {.slots = 11, .pick = Pick::value});
  EXPECT_TRUE(refused(add(counter, {}), ErrorCode::value_invalid));
  EXPECT_EQ(total(counter), 0);
}

TEST_P(Adds, WithARequestIdAreRefusedWhereEveryRetryCounts) {
  auto counter = make("page_views", {.key = "page"});
  EXPECT_TRUE(refused(add(counter, {.key = "a", .request_id = "r1"}), ErrorCode::request_id_refused));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Adds, ManyInOneCallAreMergedByKey) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  const std::vector<Add> adds{{.key = "k", .amount = 1},
                              {.key = "other", .amount = 10},
                              {.key = "k", .amount = 2},
                              {.key = "k", .amount = 3},
                              {.key = "z", .amount = -4}};
  for (const auto& answer : door_->add_many(counter, adds)) EXPECT_TRUE(done(answer));
  EXPECT_EQ(total(counter, "k"), 6);
  EXPECT_EQ(total(counter, "other"), 10);
  EXPECT_EQ(total(counter, "z"), -4);
  EXPECT_EQ(counter.keys().value_or_throw(), 3);
}

TEST_P(Adds, OneBadOfManyIsHeardAndTheOthersFollowTheDoor) {
  auto counter = make("prizes", {.key = "prize", .slots = 2, .missing = Missing::error}, {"car", "hat", "full"});
  for (const int slot : {0, 1}) {
    ASSERT_TRUE(done(counter.add({.key = "full", .amount = amount_max, .slot = slot})));
  }
  const std::vector<Add> adds{{.key = "car"}, {.key = "boat"}, {.key = "full"}, {.key = "hat", .amount = 4}};
  const auto answers = door_->add_many(counter, adds);
  ASSERT_EQ(answers.size(), 4U);
  if (door_->all_or_nothing()) {
    for (const auto& answer : answers) EXPECT_TRUE(refused(answer, ErrorCode::key_missing));
    EXPECT_EQ(total(counter, "car"), 0);
    EXPECT_EQ(total(counter, "hat"), 0);
  } else {
    EXPECT_TRUE(done(answers[0]));
    EXPECT_TRUE(refused(answers[1], ErrorCode::key_missing));
    EXPECT_TRUE(refused(answers[2], ErrorCode::out_of_range));
    EXPECT_TRUE(done(answers[3]));
    EXPECT_EQ(total(counter, "car"), 1);
    EXPECT_EQ(total(counter, "hat"), 4);
  }
  EXPECT_EQ(slots(counter, "full"), (std::vector<Slot>{{0, amount_max}, {1, amount_max}}));
}

TEST_P(Adds, ABadOneAtTheEndOfManyTakesNewKeysWithIt) {
  if (!door_->all_or_nothing()) return;
  auto counter = make("page_views", {.key = "page", .slots = 4});
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("key" + std::to_string(i));
  std::vector<Add> adds;
  for (const auto& key : keys) adds.push_back({.key = key});
  adds.push_back({.key = "last", .slot = 4});
  for (const auto& answer : door_->add_many(counter, adds)) EXPECT_TRUE(refused(answer, ErrorCode::slot_missing));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Adds, RefusedOnceDoNotSpoilTheNext) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(refused(add(counter, {.key = "a", .slot = 7}), ErrorCode::slot_missing));
    EXPECT_TRUE(done(add(counter, {.key = "a"})));
  }
  EXPECT_EQ(total(counter, "a"), 10);
}

class AddsInOneCall : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(AddsInOneCall);

TEST_P(AddsInOneCall, TakeUpToTheLimitAndRefuseMore) {
  constexpr std::size_t call_items_max = 65'536;
  auto counter = make("page_views", {.key = "page"});
  const std::vector<Add> adds(call_items_max + 1, Add{.key = "a"});
  const auto most = counter.add(std::span(adds).first(call_items_max));
  ASSERT_TRUE(done(most));
  EXPECT_EQ(most->size(), call_items_max);
  EXPECT_EQ(total(counter, "a"), static_cast<std::int64_t>(call_items_max));
  const auto more = counter.add(adds);
  ASSERT_TRUE(refused(more, ErrorCode::invalid_argument));
  EXPECT_NE(more.error().message.find("65"), std::string::npos) << more.error().message;
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->begin()));
  EXPECT_TRUE(refused(counter.add(session->caller(), adds), ErrorCode::invalid_argument));
  EXPECT_TRUE(ran(session->rollback()));
  EXPECT_EQ(total(counter, "a"), static_cast<std::int64_t>(call_items_max));
}

TEST_P(AddsInOneCall, OfNoneAreAnEmptyAnswer) {
  auto counter = make("page_views", {.key = "page"});
  const auto none = counter.add(std::span<const Add>{});
  ASSERT_TRUE(done(none));
  EXPECT_TRUE(none->empty());
}

TEST_P(AddsInOneCall, AreAnsweredInTheOrderGiven) {
  auto counter = make("page_views", {.key = "page", .slots = 8});
  std::vector<Add> adds;
  for (const int slot : {7, 0, 3, 3, 1}) adds.push_back({.key = "a", .slot = slot});
  const auto added = counter.add(adds);
  ASSERT_TRUE(done(added));
  EXPECT_EQ(*added, (std::vector<Added>{{7, false}, {0, false}, {3, false}, {3, false}, {1, false}}));
}

class PlainSql : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(PlainSql);

TEST_P(PlainSql, CountsOneWhereOnlyTheKeyIsGiven) {
  auto keyed = make("page_views", {.key = "page"});
  auto plain = make("prizes_won", {});
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->add_by_default("page_views", keyed.rule(), "/home")));
  ASSERT_TRUE(ran(session->add_by_default("prizes_won", plain.rule(), "")));
  EXPECT_EQ(total(keyed, "/home"), 1);
  EXPECT_EQ(total(plain), 1);
}

TEST_P(PlainSql, RefusesAmountsThatAreNoWholeNumbers) {
  auto counter = make("page_views", {.key = "page"});
  auto session = stand_->session();
  for (const std::string amount : {"1.5", "'1e3'", "'abc'", "9223372036854775808", "1e300", "'1.0'", "' 5'", "''"}) {
    if (amount == "' 5'" && traits().sql_trims_numbers) continue;
    const auto added = session->add_written("page_views", counter.rule(), "a", amount);
    ASSERT_FALSE(added.has_value()) << amount << " counted as " << total(counter, "a");
  }
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(PlainSql, CannotReachPastTheAddView) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  auto session = stand_->session();
  ASSERT_TRUE(done(counter.add({.key = "a"})));
  EXPECT_FALSE(session->run("INSERT INTO page_views (page, total) VALUES ('b', 1)").has_value());
  EXPECT_FALSE(session->run("UPDATE page_views SET total = 5").has_value());
  EXPECT_FALSE(session->run("DELETE FROM page_views").has_value());
  EXPECT_EQ(total(counter), 1);
}

TEST_P(PlainSql, SeesTheTotalsAndNotTheSlots) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  for (const int slot : {0, 1, 3}) ASSERT_TRUE(done(counter.add({.key = "a", .amount = 2, .slot = slot})));
  ASSERT_TRUE(done(counter.add({.key = "b", .amount = -1})));
  const auto rows = stand_->session()->rows("SELECT page, total FROM page_views ORDER BY page");
  ASSERT_TRUE(ran(rows));
  EXPECT_EQ(*rows, (Rows{{"a", "6"}, {"b", "-1"}}));
}

}  // namespace
}  // namespace splitcount::contract
