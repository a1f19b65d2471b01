// The combiner without faults of the database: bounds, deadlines, order, many threads.
#include <combine/test_combined.h>

#include <atomic>
#include <set>
#include <thread>

#include <base/limits.h>

namespace splitcount::combine {
namespace {

class CombinerGroups : public Combined {};

TEST_F(CombinerGroups, FormWhileTheDatabaseIsHeldUpAndAreExact) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  std::vector<std::future<Answers>> waiting;
  {
    const Blocker blocker(path());
    for (int i = 0; i < 1'000; ++i) waiting.push_back(submit_one(combiner, counter, {.key = "k"}));
  }
  for (auto& answers : waiting) EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(counter, "k"), 1'000);
  EXPECT_LE(combiner.counts().groups, 2U);
  EXPECT_EQ(combiner.counts().adds, 1'000U);
}

TEST_F(CombinerGroups, HoldAtMostTheirLimitAndLongSubmissionsAreAnsweredTogether) {
  auto counter = define("page_views", {.key = "page"});
  Combiner::Limits limits;
  limits.group_items_max = 10;
  auto combiner = open(limits);
  std::vector<Add> adds(95, Add{.key = "k"});
  adds[50].amount = 7;
  const auto answers = submit(combiner, counter, adds).get();
  ASSERT_EQ(answers.size(), adds.size());
  for (const auto& answer : answers) EXPECT_TRUE(done(answer));
  EXPECT_EQ(total(counter, "k"), 101);
  EXPECT_EQ(combiner.counts().groups, 10U);
}

TEST_F(CombinerGroups, OfManyThreadsAreExactByKeyAndId) {
  auto counter = define("page_views", {.key = "page", .slots = 8, .pick = Pick::random, .retries = Retries{true, {}}});
  auto plain = define("visits", {});
  auto combiner = open();
  constexpr int senders = 8;
  constexpr int calls = 500;
  std::atomic<int> replays{0};
  std::vector<std::thread> threads;
  for (int sender = 0; sender < senders; ++sender) {
    threads.emplace_back([&, sender] {
      std::vector<std::future<Answers>> waiting;
      for (int i = 0; i < calls; ++i) {
        const std::string key = "k" + std::to_string(i % 7);
        const std::string id = std::to_string(sender / 2) + "/" + std::to_string(i);  // each id is sent by two
        waiting.push_back(submit_one(combiner, counter, {.key = key, .request_id = id}));
        waiting.push_back(submit_one(combiner, plain, {.amount = -1}));
      }
      for (auto& answers : waiting) {
        const auto answer = answers.get().front();
        ASSERT_TRUE(done(answer));
        replays += answer->replay ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total(counter), senders / 2 * calls);
  EXPECT_EQ(replays, senders / 2 * calls);
  EXPECT_EQ(total(plain), -senders * calls);
  const auto counts = combiner.counts();
  EXPECT_EQ(counts.items, 0U);
  EXPECT_EQ(counts.bytes, 0U);
  EXPECT_EQ(counts.adds, 2U * senders * calls);
}

TEST_F(CombinerGroups, OfPickRandomUseOneSlotEachAndManyOverall) {
  auto counter = define("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  auto combiner = open();
  std::set<int> slots;
  for (int i = 0; i < 20; ++i) {
    const auto answers = submit(combiner, counter, std::vector<Add>(10, Add{.key = "k"})).get();
    for (const auto& answer : answers) EXPECT_EQ(answer.value_or(Added{-1, false}).slot, answers.front()->slot);
    slots.insert(answers.front()->slot);
  }
  EXPECT_GT(slots.size(), 1U);
}

TEST_F(CombinerGroups, AnswerACulpritAloneWithItsOwnError) {
  const std::vector<std::string> keys{"car", "full"};
  auto counter = define("prizes", {.key = "prize", .missing = Missing::error}, keys);
  ASSERT_TRUE(done(counter.add({.key = "full", .amount = INT64_MAX})));
  auto combiner = open();
  std::vector<Add> adds(100, Add{.key = "car"});
  adds[17].key = "full";
  adds[63].key = "boat";
  const auto answers = submit(combiner, counter, adds).get();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 17) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::out_of_range));
    } else if (i == 63) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::key_missing));
    } else {
      EXPECT_TRUE(done(answers[i]));
    }
  }
  EXPECT_EQ(total(counter, "car"), 98);
  EXPECT_EQ(combiner.counts().groups, 1U);
}

TEST_F(CombinerGroups, FollowACounterThatWasDroppedAndDefinedAnew) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto other = define("visits", {});
  auto combiner = open();
  ASSERT_TRUE(done(add(combiner, counter, {.key = "k"})));
  auto theirs = another();
  ASSERT_TRUE(done(theirs.drop("page_views")));
  EXPECT_TRUE(refused(add(combiner, counter, {.key = "k"}), ErrorCode::unknown_counter));
  auto now = theirs.define("page_views", {.key = "page", .slots = 16, .pick = Pick::random}).value_or_throw();
  EXPECT_EQ(add(combiner, counter, {.key = "k", .slot = 12}).value_or_throw().slot, 12);
  EXPECT_TRUE(done(add(combiner, other, {})));
  EXPECT_EQ(total(now, "k"), 1);
}

TEST_F(CombinerGroups, OfTwoCountersOfWhichOneHasGoneCountTheOther) {
  auto gone = define("page_views", {.key = "page"});
  auto kept = define("visits", {});
  auto combiner = open();
  std::vector<std::future<Answers>> waiting_for_gone;
  std::vector<std::future<Answers>> waiting_for_kept;
  ASSERT_TRUE(done(another().drop("page_views")));
  {
    const Blocker blocker(path());
    for (int i = 0; i < 20; ++i) {
      waiting_for_gone.push_back(submit_one(combiner, gone, {.key = "k"}));
      waiting_for_kept.push_back(submit_one(combiner, kept, {}));
    }
  }
  for (auto& answers : waiting_for_gone) EXPECT_TRUE(refused(answers.get().front(), ErrorCode::unknown_counter));
  for (auto& answers : waiting_for_kept) EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(kept), 20);
}

TEST_F(CombinerGroups, LeaveNoStreamBehindWhenTheCombinerEnds) {
  auto counter = define("visits", {});
  auto other = open();
  {
    auto combiner = open();
    ASSERT_TRUE(done(add(combiner, counter, {})));
    EXPECT_EQ(other.streams("combiner/").value_or_throw().size(), 1U);
  }
  EXPECT_TRUE(other.streams("").value_or_throw().empty());
}

TEST_F(CombinerGroups, GoOnAfterTheirStreamWasRemovedByHand) {
  auto counter = define("visits", {});
  auto combiner = open();
  ASSERT_TRUE(done(add(combiner, counter, {})));
  const auto streams = combiner.streams("combiner/").value_or_throw();
  ASSERT_EQ(streams.size(), 1U);
  ASSERT_TRUE(done(combiner.forget(std::vector<std::string>{streams.front().name}, far_away())));
  ASSERT_TRUE(done(add(combiner, counter, {})));
  EXPECT_EQ(total(counter), 2);
}

class CombinerSubmit : public Combined {};

TEST_F(CombinerSubmit, RefusesWhatIsInvalidByItselfAndNeverCallsBack) {
  auto counter = define("page_views", {.key = "page", .slots = 4});
  auto combiner = open();
  bool called = false;
  const auto mark = [&called](std::span<const Result<Added>>) { called = true; };
  const auto refusal = [&](const Add& one, ErrorCode code) {
    const std::vector<Add> adds{{.key = "good"}, one};
    return refused(combiner.submit(counter, adds, far_away(), mark), code);
  };
  EXPECT_TRUE(refusal({}, ErrorCode::key_invalid));
  EXPECT_TRUE(refusal({.key = "\xff"}, ErrorCode::key_invalid));
  EXPECT_TRUE(refusal({.key = std::string(769, 'k')}, ErrorCode::key_invalid));
  EXPECT_TRUE(refusal({.key = "k", .request_id = "x"}, ErrorCode::request_id_refused));
  EXPECT_TRUE(refusal({.key = "k", .value = 3}, ErrorCode::value_invalid));
  EXPECT_TRUE(refusal({.key = "k", .slot = 4}, ErrorCode::slot_missing));
  EXPECT_TRUE(refused(combiner.submit(counter, {}, far_away(), mark), ErrorCode::invalid_argument));
  const std::vector<Add> good{{.key = "good"}};
  EXPECT_TRUE(refused(combiner.submit(counter, good, far_away(), nullptr), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(combiner.submit(counter, good, in_ms(-1), mark), ErrorCode::deadline_exceeded));
  auto other_database = another();
  const auto elsewhere = other_database.counter("page_views").value_or_throw();
  EXPECT_TRUE(refused(combiner.submit(elsewhere, good, far_away(), mark), ErrorCode::invalid_argument));
  { const auto ended = std::move(combiner); }
  EXPECT_FALSE(called);
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_F(CombinerSubmit, CopiesKeysAndIds) {
  auto counter = define("page_views", {.key = "page", .retries = Retries{true, {}}});
  auto combiner = open();
  std::future<Answers> answers;
  {
    const Blocker blocker(path());
    std::string key = "key";
    std::string id = "id";
    answers = submit_one(combiner, counter, {.key = key, .request_id = id});
    key = "???";
    id = "??";
  }
  EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(counter, "key"), 1);
  EXPECT_TRUE(counter.add({.key = "key", .request_id = "id"}).value_or_throw().replay);
}

TEST_F(CombinerSubmit, MayBeCalledFromAnAnswer) {
  auto counter = define("visits", {});
  std::promise<void> ended;
  auto combiner = open();
  std::function<void(int)> send = [&](int left) {
    if (left == 0) return ended.set_value();
    const Add one;
    EXPECT_TRUE(
        done(combiner.submit(counter, std::span(&one, 1), far_away(), [&send, left](auto) { send(left - 1); })));
  };
  send(20);
  ended.get_future().get();
  EXPECT_EQ(total(counter), 20);
}

TEST_F(CombinerSubmit, HoldsTheBoundsOnAddsAndBytesAndTakesNothingBeyondThem) {
  auto counter = define("page_views", {.key = "page"});
  Combiner::Limits limits;
  limits.items_max = 10;
  limits.bytes_max = 2'000;
  auto combiner = open(limits);
  const std::string key(700, 'b');
  std::vector<std::future<Answers>> waiting;
  {
    const Blocker blocker(path());
    for (int i = 0; i < 4; ++i) waiting.push_back(submit_one(combiner, counter, {.key = key}));
    for (int i = 0; i < 20; ++i) waiting.push_back(submit_one(combiner, counter, {.key = "k"}));
    EXPECT_EQ(combiner.counts().items, 10U);
    EXPECT_EQ(combiner.counts().bytes, 1'408U);
    const std::vector<Add> never(11, Add{.key = "k"});
    EXPECT_TRUE(refused(submit(combiner, counter, never).get().front(), ErrorCode::invalid_argument));
  }
  int full = 0;
  for (auto& answers : waiting) {
    const auto answer = answers.get().front();
    if (answer) continue;
    EXPECT_TRUE(refused(answer, ErrorCode::queue_full));
    EXPECT_TRUE(answer.error().retryable);
    ++full;
  }
  EXPECT_EQ(full, 14);
  EXPECT_EQ(total(counter), 10);
}

TEST_F(CombinerSubmit, RefusesLimitsThatCannotWork) {
  for (const Combiner::Limits& limits :
       {Combiner::Limits{.items_max = 0}, Combiner::Limits{.bytes_max = 0}, Combiner::Limits{.group_items_max = 0},
        Combiner::Limits{.group_items_max = limits::group_items_max + 1},
        Combiner::Limits{.wait_ms_max = std::chrono::milliseconds(0)}}) {
    EXPECT_TRUE(refused(Combiner::open(database_, limits), ErrorCode::invalid_argument));
  }
}

class CombinerDeadlines : public Combined {};

TEST_F(CombinerDeadlines, OfAddsThatWaitForTheDatabaseEndAsNotCountedAndTheyNeverCount) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open({.group_items_max = 8});
  std::vector<std::future<Answers>> waiting;
  {
    const Blocker blocker(path());
    for (int i = 0; i < 100; ++i) waiting.push_back(submit_one(combiner, counter, {.key = "k"}, in_ms(30 + i % 50)));
    for (auto& answers : waiting) EXPECT_TRUE(refused(answers.get().front(), ErrorCode::deadline_exceeded));
    EXPECT_LE(combiner.counts().items, 8U) << "only what the committer holds is left";
  }
  EXPECT_TRUE(done(add(combiner, counter, {.key = "k"})));
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_F(CombinerDeadlines, ThatDifferWithinAGroupLetTheLaterOnesCount) {
  auto counter = define("page_views", {.key = "page"});
  auto combiner = open();
  std::vector<std::future<Answers>> early;
  std::vector<std::future<Answers>> late;
  {
    const Blocker blocker(path());
    for (int i = 0; i < 50; ++i) {
      early.push_back(submit_one(combiner, counter, {.key = "early"}, in_ms(20)));
      late.push_back(submit_one(combiner, counter, {.key = "late"}));
      if (i % 2 == 0) early.push_back(submit_one(combiner, counter, {.key = "early"}, in_ms(20)));
    }
    for (auto& answers : early) EXPECT_TRUE(refused(answers.get().front(), ErrorCode::deadline_exceeded));
  }
  for (auto& answers : late) EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(counter, "early"), 0);
  EXPECT_EQ(total(counter, "late"), 50);
}

TEST_F(CombinerDeadlines, KeepTheMemoryBoundWhileTheCommitterIsStopped) {
  auto counter = define("page_views", {.key = "page"});
  Combiner::Limits limits;
  limits.items_max = 1'000;
  limits.bytes_max = 20'000;
  limits.group_items_max = 100;
  auto combiner = open(limits);
  std::atomic<int> answered{0};
  int taken = 0;
  int full = 0;
  {
    const Blocker blocker(path());
    for (int i = 0; i < 20'000; ++i) {
      const std::string key = "key of sixteen b" + std::to_string(i % 10);
      const Add one{.key = key};
      const bool ok = combiner.submit(counter, std::span(&one, 1), in_ms(10), [&](auto) { ++answered; }).has_value();
      ++(ok ? taken : full);
      const auto counts = combiner.counts();
      ASSERT_LE(counts.items, limits.items_max);
      ASSERT_LE(counts.bytes, limits.bytes_max);
      if (!ok) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    EXPECT_GT(full, 0);
    EXPECT_GT(taken, 1'000) << "the dead make room";
    while (answered < taken) std::this_thread::yield();
  }
  EXPECT_TRUE(done(add(combiner, counter, {.key = "last"})));
  EXPECT_EQ(total(counter), 1);
}

TEST_F(CombinerDeadlines, EndADestructorThatCannotCommit) {
  auto counter = define("visits", {});
  std::future<Answers> answers;
  const Blocker blocker(path());
  {
    auto combiner = open({.wait_ms_max = std::chrono::milliseconds(50)});
    answers = submit_one(combiner, counter, Add{}, in_ms(100));
  }
  EXPECT_TRUE(refused(answers.get().front(), ErrorCode::deadline_exceeded));
}

TEST_F(CombinerDeadlines, OfADestructorLetItFinishWhatWasSubmitted) {
  auto counter = define("visits", {});
  std::vector<std::future<Answers>> waiting;
  {
    auto combiner = open({.group_items_max = 16});
    for (int i = 0; i < 500; ++i) waiting.push_back(submit_one(combiner, counter, Add{}));
  }
  for (auto& answers : waiting) EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(counter), 500);
}

}  // namespace
}  // namespace splitcount::combine
