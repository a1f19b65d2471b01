// The combiner while the database gives up, breaks, and leaves commits in doubt.
#include <combine/test_combined.h>

#include <map>
#include <random>
#include <thread>

#include <base/limits.h>

namespace splitcount::combine {
namespace {

class CombinerRetries : public Combined {};

TEST_F(CombinerRetries, RunAGivenUpGroupAgainWithAllOfItsAdds) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  const std::vector<Add> adds(50, Add{.key = "k"});
  faults_->at_commits({CommitFault::given_up});
  for (const auto& answer : submit(combiner, counter, adds).get()) EXPECT_TRUE(done(answer));
  EXPECT_EQ(faults_->fired(), 1);
  EXPECT_EQ(total(counter, "k"), 50);
}

TEST_F(CombinerRetries, UsedUpAreAnErrorForEveryAddAndNoneCounts) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  const std::vector<Add> adds(50, Add{.key = "k"});
  for (int i = 0; i < limits::call_tries_max; ++i) faults_->at_commits({CommitFault::given_up});
  for (const auto& answer : submit(combiner, counter, adds).get()) {
    EXPECT_TRUE(refused(answer, ErrorCode::serialization_failure));
    EXPECT_TRUE(answer.error().retryable);
  }
  EXPECT_EQ(faults_->fired(), limits::call_tries_max);
  EXPECT_EQ(total(counter, "k"), 0);
  EXPECT_TRUE(done(add(combiner, counter, {.key = "k"})));
}

TEST_F(CombinerRetries, WaitOutADatabaseThatCannotBeHadForAWhile) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  faults_->at_connects(2, ErrorCode::connection_lost);
  faults_->at_begins(2 * limits::call_tries_max, ErrorCode::database_busy);
  faults_->at_applies(1, ErrorCode::connection_lost);
  EXPECT_TRUE(done(add(combiner, counter, {.key = "k"})));
  EXPECT_EQ(faults_->fired(), 2 + 2 * limits::call_tries_max + 1);
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CombinerRetries, AreNotMadeOfAFullDiskWhichEveryAddHears) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  faults_->at_applies(1, ErrorCode::disk_full);
  for (const auto& answer : submit(combiner, counter, std::vector<Add>(20, Add{.key = "k"})).get()) {
    EXPECT_TRUE(refused(answer, ErrorCode::disk_full));
  }
  EXPECT_TRUE(done(add(combiner, counter, {.key = "k"})));
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CombinerRetries, AddsWithIdsWhoseGroupFailedCountOnTheNextTry) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  auto combiner = open();
  faults_->at_applies(1, ErrorCode::io_error);
  const Add one{.key = "k", .request_id = "x"};
  EXPECT_TRUE(refused(add(combiner, counter, one), ErrorCode::io_error));
  EXPECT_FALSE(add(combiner, counter, one).value_or_throw().replay);
  EXPECT_TRUE(add(combiner, counter, one).value_or_throw().replay);
  EXPECT_TRUE(
      refused(add(combiner, counter, {.key = "k", .amount = 5, .request_id = "x"}), ErrorCode::request_conflict));
  EXPECT_TRUE(refused(add(combiner, counter, {.key = "l", .request_id = "x"}), ErrorCode::request_conflict));
  EXPECT_EQ(total(counter), 1);
}

class CombinerSplits : public Combined {};

TEST_F(CombinerSplits, AGroupUntilTheCulpritsAreAlone) {
  const std::vector<std::string> keys{"car", "full"};
  auto counter = define("prizes", {.key = "prize", .missing = Missing::error}, keys);
  ASSERT_TRUE(done(counter.add({.key = "full", .amount = INT64_MAX})));
  faults_->let_refusals_kill();
  auto combiner = open();
  std::vector<Add> adds(100, Add{.key = "car"});
  adds[0].key = "boat";
  adds[17].key = "full";
  adds[99].key = "plane";
  const auto answers = submit(combiner, counter, adds).get();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 17) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::out_of_range));
    } else if (i == 0 || i == 99) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::key_missing));
    } else {
      EXPECT_TRUE(done(answers[i])) << i;
    }
  }
  EXPECT_EQ(total(counter, "car"), 97);
  EXPECT_GT(combiner.counts().groups, 1U);
}

TEST_F(CombinerSplits, AlsoWhileCommitsAreInDoubt) {
  const std::vector<std::string> keys{"car"};
  auto counter = define("prizes", {.key = "prize", .missing = Missing::error}, keys);
  faults_->let_refusals_kill();
  auto combiner = open();
  std::vector<Add> adds(64, Add{.key = "car"});
  adds[40].key = "boat";
  faults_->draw_commits(7, 60);
  const auto answers = submit(combiner, counter, adds).get();
  faults_->stop();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(i == 40 ? refused(answers[i], ErrorCode::key_missing) : done(answers[i])) << i;
  }
  EXPECT_GT(faults_->fired(), 0);
  EXPECT_EQ(total(counter, "car"), 63);
}

class CombinerInDoubt : public Combined {};

TEST_F(CombinerInDoubt, SettlesAGroupOfThreeCountersOnce) {
  for (const auto fault : {CommitFault::lost_kept, CommitFault::lost_not_kept}) {
    const std::string tag = fault == CommitFault::lost_kept ? "kept" : "lost";
    auto a = define("a_" + tag, {.slots = 16, .pick = Pick::random});
    auto b = define("b_" + tag, {.key = "k", .retries = Retries{true, {}}});
    auto c = define("c_" + tag, {.slots = 11, .pick = Pick::value});
    auto combiner = open();
    std::vector<std::future<Answers>> waiting;
    faults_->at_commits({fault});
    {
      const Blocker blocker(path());
      for (int i = 0; i < 100; ++i) {
        const std::string id = std::to_string(i);
        waiting.push_back(submit_one(combiner, a, {}));
        waiting.push_back(submit_one(combiner, b, {.key = "x", .request_id = id}));
        waiting.push_back(submit_one(combiner, c, {.value = i}));
      }
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto answer = waiting[i].get().front();
      ASSERT_TRUE(done(answer));
      EXPECT_FALSE(answer->replay) << "it was counted by this group, on whichever try";
      if (i % 3 == 2) {
        EXPECT_EQ(answer->slot, static_cast<int>(i / 3 % 11));
      }
    }
    EXPECT_EQ(total(a), 100);
    EXPECT_EQ(total(b, "x"), 100);
    EXPECT_EQ(total(c), 100);
    for (int i = 0; i < 100; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_TRUE(add(combiner, b, {.key = "x", .request_id = id}).value_or_throw().replay);
    }
  }
  EXPECT_EQ(faults_->fired(), 2);
}

TEST_F(CombinerInDoubt, AnswersTheSlotsThatWereCommitted) {
  auto counter = define("page_views", {.key = "page", .slots = 1'024, .pick = Pick::random});
  auto combiner = open();
  std::map<int, std::int64_t> said;
  for (int i = 0; i < 20; ++i) {
    faults_->at_commits({CommitFault::lost_kept, i % 2 == 0 ? CommitFault::lost_not_kept : CommitFault::none});
    ++said[add(combiner, counter, {.key = "k"}).value_or_throw().slot];
  }
  std::map<int, std::int64_t> stored;
  for (const Slot& slot : counter.slots("k").value_or_throw()) stored[slot.slot] = slot.n;
  EXPECT_EQ(stored, said);
}

TEST_F(CombinerInDoubt, LetsNoLaterGroupPassAndTellsUnknownOnlyOfWhatWasSent) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  ASSERT_TRUE(done(add(combiner, counter, {.key = "warm"})));
  faults_->at_commits({CommitFault::lost_kept});
  faults_->at_connects(1'000'000, ErrorCode::database_unavailable);
  auto sent = submit_one(combiner, counter, {.key = "sent"}, in_ms(100));
  while (faults_->fired() < 2) std::this_thread::yield();
  auto later = submit_one(combiner, counter, {.key = "later"}, in_ms(50));
  auto last = submit_one(combiner, counter, {.key = "last"});
  EXPECT_TRUE(refused(later.get().front(), ErrorCode::deadline_exceeded));
  const auto answer = sent.get().front();
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::outcome_unknown);
  EXPECT_TRUE(answer.error().outcome_unknown);
  EXPECT_EQ(last.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  faults_->stop();
  EXPECT_TRUE(done(last.get().front()));
  EXPECT_EQ(total(counter, "sent"), 1) << "it had been kept";
  EXPECT_EQ(total(counter, "later"), 0);
  EXPECT_EQ(total(counter, "last"), 1);
}

TEST_F(CombinerInDoubt, DoesNotCountWhatNobodyWaitsForAnyMore) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  ASSERT_TRUE(done(add(combiner, counter, {.key = "warm"})));
  faults_->at_commits({CommitFault::lost_not_kept});
  faults_->at_connects(1'000'000, ErrorCode::database_unavailable);
  const auto answer = add(combiner, counter, {.key = "sent"}, in_ms(50));
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(answer.error().outcome_unknown);
  faults_->stop();
  EXPECT_TRUE(done(add(combiner, counter, {.key = "last"})));
  EXPECT_EQ(total(counter, "sent"), 0);
}

TEST_F(CombinerInDoubt, EndsWithTheCombinerAtTheLatest) {
  auto counter = define("page_views", {.key = "page"});
  std::future<Answers> sent;
  {
    auto combiner = open();
    ASSERT_TRUE(done(add(combiner, counter, {.key = "warm"})));
    faults_->at_commits({CommitFault::lost_kept});
    faults_->at_connects(1'000'000, ErrorCode::database_unavailable);
    sent = submit_one(combiner, counter, {.key = "sent"}, in_ms(50));
    while (faults_->fired() < 1) std::this_thread::yield();
  }
  const auto answer = sent.get().front();
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(answer.error().outcome_unknown);
  faults_->stop();
  EXPECT_EQ(total(counter, "sent"), 1);
}

TEST_F(CombinerInDoubt, IsExactOverManyRandomRuns) {
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto ids = define("with_ids", {.key = "k", .slots = 8, .pick = Pick::random, .retries = Retries{true, {}}});
  auto plain = define("plain", {.slots = 8, .pick = Pick::random});
  std::mt19937_64 generator(seed);
  std::int64_t acked = 0;
  int number = 0;
  for (int run = 0; run < 100; ++run) {
    faults_->draw_commits(generator(), 40);
    auto combiner = open({.group_items_max = 1 + generator() % 20});
    std::vector<std::future<Answers>> waiting;
    for (int i = 0; i < 15; ++i) {
      const std::string id = std::to_string(number++);
      waiting.push_back(submit_one(combiner, ids, {.key = "x", .request_id = id}));
      waiting.push_back(submit_one(combiner, plain, {}));
    }
    for (auto& answers : waiting) {
      const auto answer = answers.get().front();
      ASSERT_TRUE(done(answer));
      EXPECT_FALSE(answer->replay);
    }
    acked += 15;
    faults_->stop();
    ASSERT_EQ(total(ids, "x"), acked) << "run " << run;
    ASSERT_EQ(total(plain), acked) << "run " << run;
  }
  EXPECT_GT(faults_->fired(), 50);
}

TEST_F(CombinerInDoubt, KeepsItsWordWhileDeadlinesPass) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto counter = define("page_views", {.key = "page"});
  std::mt19937_64 generator(seed);
  std::int64_t acked = 0;
  std::int64_t unknown = 0;
  for (int run = 0; run < 20; ++run) {
    faults_->draw_commits(generator(), 50);
    auto combiner = open({.group_items_max = 5});
    std::vector<std::future<Answers>> waiting;
    for (int i = 0; i < 100; ++i) {
      waiting.push_back(submit_one(combiner, counter, {.key = "k"}, in_ms(1 + static_cast<int>(generator() % 30))));
    }
    for (auto& answers : waiting) {
      const auto answer = answers.get().front();
      if (answer) {
        ++acked;
      } else if (answer.error().outcome_unknown) {
        ++unknown;
      } else {
        EXPECT_EQ(answer.error().code, ErrorCode::deadline_exceeded);
      }
    }
  }
  faults_->stop();
  EXPECT_GE(total(counter, "k"), acked);
  EXPECT_LE(total(counter, "k"), acked + unknown);
}

}  // namespace
}  // namespace splitcount::combine
