#include <counter/test_ground.h>

#include <set>
#include <thread>

#include <base/limits.h>

namespace splitcount::counter {
namespace {

class CounterOnItsOwn : public Ground {};

TEST_F(CounterOnItsOwn, ARetryAfterAGivenUpCommitCountsAllOfItsAddsOnce) {
  auto counter = define("page_views", {.key = "page"});
  const std::vector<Add> adds(50, Add{.key = "k"});
  faults_->at_commits({CommitFault::given_up});
  EXPECT_TRUE(done(counter.add(adds)));
  EXPECT_EQ(faults_->fired(), 1);
  EXPECT_EQ(total(counter, "k"), 50);
}

TEST_F(CounterOnItsOwn, RetriesUsedUpAreAnErrorAndNothingCounts) {
  auto counter = define("page_views", {.key = "page"});
  const std::vector<Add> adds(50, Add{.key = "k"});
  for (int i = 0; i < limits::call_tries_max; ++i) faults_->at_commits({CommitFault::given_up});
  const auto added = counter.add(adds);
  EXPECT_TRUE(refused(added, ErrorCode::serialization_failure));
  EXPECT_EQ(faults_->fired(), limits::call_tries_max);
  EXPECT_EQ(total(counter, "k"), 0);
}

TEST_F(CounterOnItsOwn, AConnectionLostBeforeTheCommitIsReplacedAndTheAddCountsOnce) {
  auto counter = define("page_views", {.key = "page"});
  faults_->at_applies(1, ErrorCode::connection_lost);
  faults_->at_begins(1, ErrorCode::connection_lost);
  EXPECT_TRUE(done(counter.add({.key = "k"})));
  EXPECT_EQ(faults_->fired(), 2);
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CounterOnItsOwn, AnUnknownCommitWithoutIdsIsToldAsUnknownAndNotRepeated) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  for (const auto fault : {CommitFault::lost_kept, CommitFault::lost_not_kept}) {
    faults_->at_commits({fault});
    const std::vector<Add> adds{{.key = "k", .request_id = fault == CommitFault::lost_kept ? "a" : "b"}, {.key = "k"}};
    const auto added = counter.add(adds);
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code, ErrorCode::outcome_unknown);
    EXPECT_TRUE(added.error().outcome_unknown);
  }
  EXPECT_EQ(total(counter, "k"), 2) << "the kept one, once";
}

TEST_F(CounterOnItsOwn, AnUnknownCommitWithIdsIsSettledBySendingItAgain) {
  auto counter = define("page_views", {.key = "page", .slots = 64, .pick = Pick::random, .retries = Retries{true, {}}});
  int number = 0;
  for (const auto fault : {CommitFault::lost_kept, CommitFault::lost_not_kept}) {
    const std::string first = std::to_string(number++);
    const std::string second = std::to_string(number++);
    const std::vector<Add> adds{{.key = "k", .request_id = first}, {.key = "k", .amount = 2, .request_id = second}};
    faults_->at_commits({fault});
    const auto added = counter.add(adds);
    ASSERT_TRUE(done(added));
    for (const Added& one : *added) EXPECT_FALSE(one.replay) << "this call counted it";
    const auto again = counter.add(adds);
    ASSERT_TRUE(done(again));
    for (std::size_t i = 0; i < adds.size(); ++i) EXPECT_EQ((*again)[i], (Added{(*added)[i].slot, true}));
  }
  EXPECT_EQ(faults_->fired(), 2);
  EXPECT_EQ(total(counter, "k"), 6);
}

TEST_F(CounterOnItsOwn, AnUnknownCommitStaysUnknownWhereTheDatabaseDoesNotComeBack) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  faults_->at_commits({CommitFault::lost_kept});
  faults_->at_connects(limits::call_tries_max, ErrorCode::database_unavailable);
  const auto added = counter.add({.key = "k", .request_id = "x"});
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, ErrorCode::outcome_unknown);
  EXPECT_TRUE(added.error().outcome_unknown);
  faults_->stop();
  EXPECT_EQ(counter.add({.key = "k", .request_id = "x"}).value_or_throw(), (Added{0, true}));
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CounterOnItsOwn, AnIdWhoseFirstWriteFailedCountsOnTheNextTry) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  faults_->at_applies(1, ErrorCode::io_error);
  EXPECT_TRUE(refused(counter.add({.key = "k", .request_id = "x"}), ErrorCode::io_error));
  EXPECT_EQ(total(counter, "k"), 0);
  EXPECT_FALSE(counter.add({.key = "k", .request_id = "x"}).value_or_throw().replay);
  EXPECT_TRUE(counter.add({.key = "k", .request_id = "x"}).value_or_throw().replay);
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CounterOnItsOwn, AnIdStandsForOneKeyAndOneAmount) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  EXPECT_TRUE(done(counter.add({.key = "k", .request_id = "x"})));
  EXPECT_TRUE(refused(counter.add({.key = "k", .amount = 5, .request_id = "x"}), ErrorCode::request_conflict));
  EXPECT_TRUE(refused(counter.add({.key = "l", .request_id = "x"}), ErrorCode::request_conflict));
  EXPECT_EQ(total(counter), 1);
}

TEST_F(CounterOnItsOwn, ABusyDatabaseIsAnErrorAfterTheWaitAndNothingCounts) {
  auto counter = define("page_views", {.key = "page"});
  faults_->at_begins(limits::call_tries_max, ErrorCode::database_busy);
  const auto added = counter.add({.key = "k"});
  EXPECT_TRUE(refused(added, ErrorCode::database_busy));
  EXPECT_TRUE(added.error().retryable);
  EXPECT_EQ(total(counter, "k"), 0);
}

TEST_F(CounterOnItsOwn, ManyThreadsOnOneCounterAreExact) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([counter]() mutable {
      for (int add = 0; add < 50; ++add) EXPECT_TRUE(done(counter.add({.key = "k"})));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total(counter, "k"), 400);
}

TEST_F(CounterOnItsOwn, PickRandomUsesOneSlotInEachTransactionAndManyOverall) {
  auto counter = define("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  std::set<int> slots;
  for (int i = 0; i < 20; ++i) {
    const auto added = counter.add(std::vector<Add>(10, Add{.key = "k"})).value_or_throw();
    for (const Added& one : added) EXPECT_EQ(one.slot, added.front().slot);
    slots.insert(added.front().slot);
  }
  EXPECT_GT(slots.size(), 1U);
}

class CounterWithAChangedRule : public Ground {
 protected:
  Counter remake(std::string_view name, const RuleOptions& options) {
    auto other = another();
    EXPECT_TRUE(done(other.drop(name)));
    return other.define(name, options).value_or_throw();
  }
};

TEST_F(CounterWithAChangedRule, FollowsMoreSlotsThatTheOldRuleRefuses) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto now = remake("page_views", {.key = "page", .slots = 16, .pick = Pick::random});
  EXPECT_EQ(counter.add({.key = "k", .slot = 12}).value_or_throw().slot, 12);
  EXPECT_EQ(counter.rule().slots, 16);
  EXPECT_EQ(total(now, "k"), 1);
}

TEST_F(CounterWithAChangedRule, FollowsAKeyThatTheOldRuleDidNotHave) {
  auto counter = define("page_views", {});
  auto now = remake("page_views", {.key = "page"});
  EXPECT_TRUE(done(counter.add({.key = "k"})));
  EXPECT_EQ(total(now, "k"), 1);
}

TEST_F(CounterWithAChangedRule, IsFollowedByAllCopiesAtOnce) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto copy = counter;
  auto same = database_.counter("page_views").value_or_throw();
  remake("page_views", {.key = "page", .slots = 16, .pick = Pick::random});
  EXPECT_TRUE(done(counter.add({.key = "k"})));
  EXPECT_EQ(copy.rule().slots, 16);
  EXPECT_EQ(same.rule().slots, 16);
}

TEST_F(CounterWithAChangedRule, ThatHasGoneIsUnknownForAddsAndReads) {
  auto counter = define("page_views", {.key = "page"});
  define("page_visits", {.key = "page"});
  ASSERT_TRUE(done(another().drop("page_views")));
  const auto added = counter.add({.key = "k"});
  EXPECT_TRUE(refused(added, ErrorCode::unknown_counter));
  EXPECT_NE(added.error().message.find("page_visits"), std::string::npos) << added.error().message;
  EXPECT_TRUE(refused(counter.total("k"), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.slots("k"), ErrorCode::unknown_counter));
  ASSERT_TRUE(done(another().uninstall()));
  EXPECT_TRUE(refused(counter.add({.key = "k"}), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.top(1), ErrorCode::unknown_counter));
}

TEST_F(CounterWithAChangedRule, SaysWhatTheNewRuleSaysOfAKeyThatWasNeverCounted) {
  auto counter = define("page_views", {.key = "page"});
  EXPECT_EQ(total(counter, "k"), 0);
  remake("page_views", {.key = "page", .missing = Missing::error});
  EXPECT_TRUE(refused(counter.total("k"), ErrorCode::key_missing));
}

TEST_F(CounterWithAChangedRule, OfTheCallersOwnTransactionIsNotKept) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto now = remake("page_views", {.key = "page", .slots = 16, .pick = Pick::random});
  Plain plain(path());
  plain.run("BEGIN IMMEDIATE");
  EXPECT_TRUE(done(counter.add(Caller(plain.get()), {.key = "k", .slot = 12})));
  EXPECT_EQ(counter.rule().slots, 4) << "what the caller's transaction sees may be rolled back";
  plain.run("COMMIT");
  EXPECT_EQ(total(now, "k"), 1);
}

class CounterReads : public Ground {};

TEST_F(CounterReads, AKeyThatWasNeverCountedIsZeroOrMissingByTheRule) {
  auto created = define("page_views", {.key = "page"});
  const auto zero = created.total("k").value_or_throw();
  EXPECT_EQ(zero.total, 0);
  EXPECT_EQ(zero.slots, 0);
  EXPECT_EQ(zero.key, "k");
  EXPECT_GT(zero.as_of, Instant{});
  EXPECT_TRUE(created.slots("k").value_or_throw().empty());
  const std::vector<std::string> keys{"car"};
  auto listed = define("prizes", {.key = "prize", .missing = Missing::error}, keys);
  EXPECT_TRUE(refused(listed.total("boat"), ErrorCode::key_missing));
  EXPECT_TRUE(refused(listed.slots("boat"), ErrorCode::key_missing));
  EXPECT_TRUE(refused(listed.totals(std::vector<std::string>{"car", "boat"}), ErrorCode::key_missing));
  EXPECT_EQ(total(listed), 0);
}

TEST_F(CounterReads, TotalsComeInTheOrderGivenAlsoForAKeyGivenTwice) {
  auto counter = define("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add(std::vector<Add>{{.key = "a", .amount = 1}, {.key = "b", .amount = 2}})));
  const std::vector<std::string> keys{"b", "a", "never", "b"};
  const auto totals = counter.totals(keys).value_or_throw();
  ASSERT_EQ(totals.size(), 4U);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(totals[i].key, keys[i]);
  EXPECT_EQ(totals[0].total, 2);
  EXPECT_EQ(totals[1].total, 1);
  EXPECT_EQ(totals[2].total, 0);
  EXPECT_EQ(totals[3].total, 2);
}

TEST_F(CounterReads, RefuseWhatNamesNothing) {
  auto keyed = define("page_views", {.key = "page"});
  auto plain = define("visits", {});
  EXPECT_TRUE(refused(keyed.total("\xff"), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(keyed.totals(std::vector<std::string>{""}), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(keyed.slots(), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(plain.total("k"), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(plain.slots("k"), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(plain.totals(std::vector<std::string>{"k"}), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(keyed.top(0), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(keyed.top(limits::top_max + 1), ErrorCode::invalid_argument));
}

TEST_F(CounterReads, GoOnWhileAnotherProgramWrites) {
  auto counter = define("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  const Blocker blocker(path());
  EXPECT_EQ(total(counter, "k"), 1);
}

}  // namespace
}  // namespace splitcount::counter
