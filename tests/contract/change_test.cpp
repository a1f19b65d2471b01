// A rule that others change while this program holds a counter: the next add follows it or is refused, and never
// writes by the old one.
#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class ChangedRule : public EveryDoor {
 protected:
  /// Another program drops the counter and defines it anew.
  Counter remake(const RuleOptions& options, const std::vector<std::string>& keys = {}) {
    auto other = another();
    EXPECT_TRUE(done(other.drop("page_views")));
    return make_counter(engine_->edition, *stand_, other, "page_views", options, keys).value_or_throw();
  }
};
SPLITCOUNT_AT_EVERY_DOOR(ChangedRule);

TEST_P(ChangedRule, ToFewerSlotsKeepsAddsInsideThem) {
  auto counter = make("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  ASSERT_TRUE(done(add(counter, {.key = "k"})));
  auto now = remake({.key = "page", .slots = 2, .pick = Pick::random});
  int counted = 0;
  for (int i = 0; i < 40; ++i) counted += add(counter, {.key = "k"}) ? 1 : 0;
  EXPECT_EQ(total(now, "k"), counted);
  EXPECT_GT(counted, 0) << "the rule is read again";
  for (const auto& slot : slots(now, "k")) EXPECT_LT(slot.slot, 2);
  if (kind_ == DoorKind::own || kind_ == DoorKind::combined) {
    EXPECT_EQ(counter.rule().slots, 2) << "and shown, but not what a caller's transaction may still roll back";
  }
}

TEST_P(ChangedRule, RefusesAGivenSlotThatHasGone) {
  auto counter = make("page_views", {.key = "page", .slots = 8});
  ASSERT_TRUE(done(add(counter, {.key = "k", .slot = 7})));
  auto now = remake({.key = "page", .slots = 4});
  EXPECT_TRUE(refused(add(counter, {.key = "k", .slot = 7}), ErrorCode::slot_missing));
  EXPECT_EQ(now.keys().value_or_throw(), 0);
}

TEST_P(ChangedRule, ToCountingEveryRetryRefusesIds) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  ASSERT_TRUE(done(add(counter, {.key = "k", .request_id = "r1"})));
  auto now = remake({.key = "page"});
  const auto again = add(counter, {.key = "k", .request_id = "r1"});
  ASSERT_FALSE(again.has_value());
  if (!by_sql()) {
    EXPECT_TRUE(refused(again, ErrorCode::request_id_refused));
  }
  EXPECT_EQ(now.keys().value_or_throw(), 0);
}

TEST_P(ChangedRule, ToOnceForgetsNoId) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "k"})));
  auto now = remake({.key = "page", .retries = Retries{true, {}}});
  if (by_sql()) (void)door_->add(now, {.key = "k", .request_id = "r1"});
  const auto first = add(counter, {.key = "k", .request_id = "r1"});
  ASSERT_TRUE(done(first)) << "what the old rule refused, the new one takes";
  ASSERT_TRUE(done(add(counter, {.key = "k", .request_id = "r1"})));
  EXPECT_EQ(total(now, "k"), 1);
}

TEST_P(ChangedRule, ToPickByValueAsksForTheValue) {
  auto counter = make("page_views", {.key = "page", .slots = 11, .pick = Pick::random});
  ASSERT_TRUE(done(add(counter, {.key = "k"})));
  auto now = remake({.key = "page", .slots = 11, .pick = Pick::value});
  EXPECT_TRUE(refused(add(counter, {.key = "k"}), ErrorCode::value_invalid));
  EXPECT_EQ(now.keys().value_or_throw(), 0);
  ASSERT_TRUE(done(add(counter, {.key = "k", .value = 13})));
  EXPECT_EQ(slots(now, "k"), (std::vector<Slot>{{2, 1}}));
}

TEST_P(ChangedRule, ToAnotherKeyColumnOrNoneIsFollowedOrRefused) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "k"})));
  auto renamed = remake({.key = "path"});
  const auto to_path = add(counter, {.key = "k"});
  EXPECT_EQ(total(renamed, "k"), to_path ? 1 : 0);
  auto keyless = remake({});
  EXPECT_FALSE(add(counter, {.key = "k"}).has_value());
  EXPECT_EQ(total(keyless), 0);
}

TEST_P(ChangedRule, ToMissingKeysAsErrorsRefusesThem) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  ASSERT_TRUE(done(add(counter, {.key = "k"})));
  auto now = remake({.key = "page", .slots = 2, .missing = Missing::error}, {"other"});
  EXPECT_TRUE(refused(add(counter, {.key = "k"}), ErrorCode::key_missing));
  EXPECT_EQ(now.keys().value_or_throw(), 1);
}

TEST_P(ChangedRule, OfACounterThatHasGoneIsAnUnknownCounter) {
  auto counter = make("page_views", {.key = "page"});
  make("kept", {.key = "page"});
  auto other = another();
  ASSERT_TRUE(done(other.drop("page_views")));
  const auto answer = add(counter, {.key = "k"});
  ASSERT_FALSE(answer.has_value());
  if (!by_sql()) {
    EXPECT_TRUE(refused(answer, ErrorCode::unknown_counter));
  }
}

TEST_P(ChangedRule, WithinOneCallerTransactionOfManyCallsNeverMixes) {
  if (kind_ != DoorKind::caller) return;
  auto counter = make("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  auto now = remake({.key = "page", .slots = 1});
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->begin()));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(done(counter.add(session->caller(), Add{.key = "k"})));
  ASSERT_TRUE(ran(session->commit()));
  EXPECT_EQ(slots(now, "k"), (std::vector<Slot>{{0, 20}}));
}

class ChangedRuleReads : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(ChangedRuleReads);

TEST_P(ChangedRuleReads, FollowAnotherKeyColumn) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  auto other = another();
  ASSERT_TRUE(done(other.drop("page_views")));
  auto now = other.define("page_views", {.key = "path"}).value_or_throw();
  ASSERT_TRUE(done(now.add({.key = "k", .amount = 5})));
  EXPECT_EQ(total(counter, "k"), 5);
  EXPECT_EQ(slots(counter, "k"), (std::vector<Slot>{{0, 5}}));
  EXPECT_EQ(counter.top(3).value_or_throw().size(), 1U);
  const std::vector<std::string> keys{"k"};
  EXPECT_EQ(counter.totals(keys).value_or_throw().front().total, 5);
}

TEST_P(ChangedRuleReads, OfACounterThatHasGoneAreRefused) {
  auto counter = make("page_views", {.key = "page"});
  auto other = another();
  ASSERT_TRUE(done(other.drop("page_views")));
  EXPECT_TRUE(refused(counter.total("k"), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.top(3), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.slots("k"), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.keys(), ErrorCode::unknown_counter));
}

TEST_P(ChangedRuleReads, CountersAreSafeToShareBetweenThreadsWhileTheRuleChanges) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto other = another();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(done(other.drop("page_views")));
    ASSERT_TRUE(done(other.define("page_views", {.key = "page", .slots = 1 + i, .pick = Pick::random})));
    auto copy = counter;
    ASSERT_TRUE(done(copy.add({.key = "k"})));
    EXPECT_EQ(counter.rule().slots, 1 + i) << "copies share what was read";
    EXPECT_EQ(copy.name(), "page_views");
  }
}

class NewerSchema : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(NewerSchema);

TEST_P(NewerSchema, IsRefusedByEverythingThatWouldWriteAndByFinding) {
  make("page_views", {.key = "page"});
  ASSERT_TRUE(ran(stand_->pretend_newer_schema()));
  auto fresh = another();
  EXPECT_TRUE(refused(fresh.counter("page_views"), ErrorCode::schema_too_new));
  EXPECT_TRUE(refused(fresh.define("clicks", {.key = "page"}), ErrorCode::schema_too_new));
  EXPECT_TRUE(refused(fresh.define("page_views", {}), ErrorCode::schema_too_new));
  EXPECT_TRUE(refused(fresh.drop("page_views"), ErrorCode::schema_too_new));
  EXPECT_TRUE(refused(fresh.uninstall(), ErrorCode::schema_too_new));
  EXPECT_TRUE(refused(fresh.list(), ErrorCode::schema_too_new));
}

TEST_P(NewerSchema, IsRefusedByScriptsMadeByHand) {
  make("page_views", {.key = "page"});
  ASSERT_TRUE(ran(stand_->pretend_newer_schema()));
  const auto before = stand_->objects();
  const auto script = Database::script(traits().dialect, "clicks", {.key = "page"}).value_or_throw();
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->begin()));
  EXPECT_FALSE(session->run(script).has_value());
  if (session->in_transaction()) {
    ASSERT_TRUE(ran(session->rollback()));
  }
  EXPECT_EQ(stand_->objects(), before);
}

}  // namespace
}  // namespace splitcount::contract
