// The combiner: many adds, one commit, every caller answered by its deadline; batches of a stream applied once.
#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

using Answers = std::vector<Result<Added>>;

Deadline in(std::chrono::milliseconds wait) { return std::chrono::steady_clock::now() + wait; }
constexpr std::chrono::minutes long_wait{1};

class Combined : public Contract {
 protected:
  /// Submits, and gives the answers when they come.
  static std::future<Answers> submit(Combiner& combiner, const Counter& counter, std::span<const Add> adds,
                                     Deadline deadline) {
    auto promise = std::make_shared<std::promise<Answers>>();
    auto answers = promise->get_future();
    const auto taken = combiner.submit(counter, adds, deadline, [promise](std::span<const Result<Added>> results) {
      promise->set_value({results.begin(), results.end()});
    });
    if (!taken) promise->set_value(Answers(adds.size(), Result<Added>(fail(taken.error()))));
    return answers;
  }
};
SPLITCOUNT_ON_EVERY_ENGINE(Combined);

TEST_P(Combined, AddsOfManyThreadsAreExactAndGrouped) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  auto combiner = Combiner::open(*database_).value_or_throw();
  constexpr int senders = 8;
  constexpr int calls = 200;
  std::vector<std::jthread> threads;
  for (int sender = 0; sender < senders; ++sender) {
    threads.emplace_back([&, sender] {
      const std::string own = "k" + std::to_string(sender);
      std::vector<std::future<Answers>> waiting;
      for (int i = 0; i < calls; ++i) {
        const std::vector<Add> adds{{.key = "hot"}, {.key = own, .amount = 2}, {.key = "hot", .amount = 1}};
        waiting.push_back(submit(combiner, counter, adds, in(long_wait)));
      }
      for (auto& answers : waiting) {
        for (const auto& answer : answers.get()) EXPECT_TRUE(done(answer));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total(counter, "hot"), 2 * senders * calls);
  for (int sender = 0; sender < senders; ++sender) {
    EXPECT_EQ(total(counter, "k" + std::to_string(sender)), 2 * calls);
  }
  const auto counts = combiner.counts();
  EXPECT_EQ(counts.adds, 3U * senders * calls);
  EXPECT_EQ(counts.items, 0U);
  EXPECT_EQ(counts.bytes, 0U);
  EXPECT_LT(counts.groups, static_cast<std::uint64_t>(senders * calls)) << "groups form under load";
}

TEST_P(Combined, AnswersFollowTheCommit) {
  auto counter = make("page_views", {.key = "page"});
  auto combiner = Combiner::open(*database_).value_or_throw();
  auto theirs = another().counter("page_views").value_or_throw();
  for (int i = 1; i <= 30; ++i) {
    const Add one{.key = "k"};
    for (const auto& answer : submit(combiner, counter, std::span(&one, 1), in(long_wait)).get()) {
      ASSERT_TRUE(done(answer));
    }
    EXPECT_EQ(total(theirs, "k"), i);
  }
}

TEST_P(Combined, OneBadItemTakesNoOtherWithIt) {
  auto counter = make("prizes", {.key = "prize", .slots = 1, .missing = Missing::error}, {"car", "full"});
  ASSERT_TRUE(done(counter.add({.key = "full", .amount = amount_max})));
  auto combiner = Combiner::open(*database_).value_or_throw();
  std::vector<Add> adds(100, Add{.key = "car"});
  adds[17].key = "full";
  adds[63].key = "boat";
  const auto answers = submit(combiner, counter, adds, in(long_wait)).get();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 17) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::out_of_range));
    } else if (i == 63) {
      EXPECT_TRUE(refused(answers[i], ErrorCode::key_missing));
    } else {
      EXPECT_TRUE(done(answers[i])) << i;
    }
  }
  EXPECT_EQ(total(counter, "car"), 98);
  EXPECT_EQ(total(counter, "full"), amount_max);
}

TEST_P(Combined, CountersOfOneDatabaseShareAGroup) {
  auto views = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  auto prizes = make("prizes_won", {.slots = 3, .pick = Pick::value});
  auto combiner = Combiner::open(*database_).value_or_throw();
  std::vector<std::future<Answers>> waiting;
  for (int i = 0; i < 100; ++i) {
    const std::string id = "r" + std::to_string(i / 2);
    const Add view{.key = "k", .request_id = id};
    const Add prize{.value = i};
    waiting.push_back(submit(combiner, views, std::span(&view, 1), in(long_wait)));
    waiting.push_back(submit(combiner, prizes, std::span(&prize, 1), in(long_wait)));
  }
  for (auto& answers : waiting) EXPECT_TRUE(done(answers.get().front()));
  EXPECT_EQ(total(views, "k"), 50);
  EXPECT_EQ(slots(prizes), (std::vector<Slot>{{0, 34}, {1, 33}, {2, 33}}));
}

TEST_P(Combined, EveryCallerIsAnsweredByItsDeadlineWhileTheDatabaseIsBlocked) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  auto combiner = Combiner::open(*database_).value_or_throw();
  auto blocker = stand_->session();
  ASSERT_TRUE(ran(blocker->block_writers("page_views")));
  std::vector<std::future<Answers>> waiting;
  for (int i = 0; i < 20; ++i) {
    const Add one{.key = "k"};
    waiting.push_back(submit(combiner, counter, std::span(&one, 1), in(std::chrono::milliseconds(150))));
  }
  std::int64_t failed = 0;
  std::int64_t unknown = 0;
  for (auto& answers : waiting) {
    const auto all = answers.get();  // a caller who never hears would hang here
    const auto& answer = all.front();
    ASSERT_FALSE(answer.has_value()) << "nothing can have been committed";
    ++(answer.error().outcome_unknown ? unknown : failed);
  }
  ASSERT_TRUE(ran(blocker->rollback()));
  const Add last{.key = "k"};
  ASSERT_TRUE(done(submit(combiner, counter, std::span(&last, 1), in(long_wait)).get().front()));
  EXPECT_GE(total(counter, "k"), 2);
  EXPECT_LE(total(counter, "k"), 2 + unknown) << failed << " were said to have failed and must not count";
}

TEST_P(Combined, ADeadlineThatHasPassedTakesNothing) {
  auto counter = make("page_views", {.key = "page"});
  auto combiner = Combiner::open(*database_).value_or_throw();
  const Add one{.key = "k"};
  const auto answers = submit(combiner, counter, std::span(&one, 1), in(std::chrono::milliseconds(-1))).get();
  EXPECT_TRUE(refused(answers.front(), ErrorCode::deadline_exceeded));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Combined, BoundsOnItemsAndBytesHoldWhileNothingIsCommitted) {
  auto counter = make("page_views", {.key = "page"});
  Combiner::Limits limits;
  limits.items_max = 10;
  limits.bytes_max = 2'000;
  auto combiner = Combiner::open(*database_, limits).value_or_throw();
  auto blocker = stand_->session();
  ASSERT_TRUE(ran(blocker->block_writers("page_views")));
  std::vector<std::future<Answers>> waiting;
  const std::string big(700, 'b');
  const Add small_one{.key = "k"};
  const Add big_one{.key = big};
  int full = 0;
  for (int i = 0; i < 40; ++i) {
    waiting.push_back(submit(combiner, counter, std::span(i % 4 == 0 ? &big_one : &small_one, 1), in(long_wait)));
    const auto counts = combiner.counts();
    EXPECT_LE(counts.items, limits.items_max);
    EXPECT_LE(counts.bytes, limits.bytes_max);
  }
  ASSERT_TRUE(ran(blocker->rollback()));
  std::int64_t counted = 0;
  for (auto& answers : waiting) {
    const auto all = answers.get();
    if (all.front()) {
      ++counted;
    } else {
      EXPECT_TRUE(refused(all.front(), ErrorCode::queue_full));
      EXPECT_TRUE(all.front().error().retryable);
      ++full;
    }
  }
  EXPECT_GE(full, 30);
  EXPECT_GT(counted, 0);
  EXPECT_EQ(total(counter), counted);
}

TEST_P(Combined, DestructionFinishesWhatWasSubmitted) {
  auto counter = make("page_views", {.key = "page"});
  std::vector<std::future<Answers>> waiting;
  {
    auto combiner = Combiner::open(*database_).value_or_throw();
    const std::vector<Add> adds(10, Add{.key = "k"});
    for (int i = 0; i < 50; ++i) waiting.push_back(submit(combiner, counter, adds, in(long_wait)));
  }
  for (auto& answers : waiting) {
    for (const auto& answer : answers.get()) EXPECT_TRUE(done(answer));
  }
  EXPECT_EQ(total(counter, "k"), 500);
}

TEST_P(Combined, InvalidAddsAreRefusedAtOnceAndNothingIsTaken) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  auto combiner = Combiner::open(*database_).value_or_throw();
  const std::vector<Add> adds{{.key = "good"}, {.key = std::string_view("a\0b", 3)}};
  bool called = false;
  const auto taken = combiner.submit(counter, adds, in(long_wait), [&](auto) { called = true; });
  EXPECT_TRUE(refused(taken, ErrorCode::key_invalid));
  { auto ended = std::move(combiner); }
  EXPECT_FALSE(called);
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

class Streams : public Contract {
 protected:
  void SetUp() override {
    Contract::SetUp();
    counter_ = std::make_unique<Counter>(make("page_views", {.key = "page"}));
    combiner_ = std::make_unique<Combiner>(Combiner::open(*database_).value_or_throw());
  }
  Result<Applied> apply(std::string_view stream, std::int64_t from, std::int64_t to, std::string_view checkpoint,
                        std::span<const Add> adds) {
    return combiner_->apply(*counter_, {stream, from, to, checkpoint, adds}, in(long_wait));
  }
  std::unique_ptr<Counter> counter_;
  std::unique_ptr<Combiner> combiner_;
};
SPLITCOUNT_ON_EVERY_ENGINE(Streams);

TEST_P(Streams, ABatchIsAppliedOnceHoweverOftenItIsSent) {
  const std::vector<Add> adds{{.key = "a"}, {.key = "b", .amount = 2}, {.key = "a"}};
  const auto first = apply("file:1", 0, 100, "c1", adds);
  ASSERT_TRUE(done(first));
  EXPECT_FALSE(first->replay);
  EXPECT_TRUE(first->refused.empty());
  const auto again = apply("file:1", 0, 100, "c1", adds);
  ASSERT_TRUE(done(again));
  EXPECT_TRUE(again->replay);
  EXPECT_EQ(total(*counter_, "a"), 2);
  EXPECT_EQ(total(*counter_, "b"), 2);
}

TEST_P(Streams, ABatchFromElsewhereIsRefusedAndChangesNothing) {
  const std::vector<Add> adds{{.key = "a"}};
  ASSERT_TRUE(done(apply("s", 0, 100, "", adds)));
  EXPECT_TRUE(refused(apply("s", 0, 50, "", adds), ErrorCode::stream_conflict));
  EXPECT_TRUE(refused(apply("s", 50, 150, "", adds), ErrorCode::stream_conflict));
  EXPECT_TRUE(refused(apply("s", 150, 200, "", adds), ErrorCode::stream_conflict));
  EXPECT_TRUE(refused(apply("new", 10, 20, "", adds), ErrorCode::stream_conflict));
  EXPECT_TRUE(refused(apply("s", 0, 100, "another", adds), ErrorCode::stream_conflict));
  EXPECT_EQ(total(*counter_, "a"), 1);
  ASSERT_TRUE(done(apply("s", 100, 150, "", adds)));
  EXPECT_EQ(total(*counter_, "a"), 2);
}

TEST_P(Streams, MalformedBatchesAreRefused) {
  const std::vector<Add> adds{{.key = "a"}};
  EXPECT_FALSE(apply("", 0, 1, "", adds).has_value());
  EXPECT_FALSE(apply(std::string(201, 's'), 0, 1, "", adds).has_value());
  EXPECT_FALSE(apply("\xff", 0, 1, "", adds).has_value());
  EXPECT_FALSE(apply("s", 1, 1, "", adds).has_value());
  EXPECT_FALSE(apply("s", -1, 1, "", adds).has_value());
  EXPECT_FALSE(apply("s", 2, 1, "", adds).has_value());
  EXPECT_FALSE(apply("s", 0, 1, std::string(1'025, 'c'), adds).has_value());
  EXPECT_EQ(counter_->keys().value_or_throw(), 0);
  EXPECT_TRUE(combiner_->streams("").value_or_throw().empty());
  EXPECT_TRUE(done(apply(std::string(200, 's'), 0, 1, std::string(1'024, '\0'), adds)));
}

TEST_P(Streams, RefusedAddsAreNamedAndTheOthersCount) {
  ASSERT_TRUE(done(counter_->add({.key = "full", .amount = amount_max})));
  const std::vector<Add> adds{{.key = "a"}, {.key = "full", .amount = 2}, {.key = "b"}};
  const auto applied = apply("s", 0, 10, "", adds);
  ASSERT_TRUE(done(applied));
  ASSERT_EQ(applied->refused.size(), 1U);
  EXPECT_EQ(applied->refused.front().index, 1U);
  EXPECT_EQ(applied->refused.front().error.code, ErrorCode::out_of_range);
  EXPECT_EQ(total(*counter_, "a"), 1);
  EXPECT_EQ(total(*counter_, "b"), 1);
  EXPECT_EQ(total(*counter_, "full"), amount_max);
}

TEST_P(Streams, AddsOfABatchThatMeetInASlotAreJudgedOneByOneOrByTheirSum) {
  ASSERT_TRUE(done(counter_->add({.key = "full", .amount = amount_max})));
  const std::vector<Add> adds{{.key = "full"}, {.key = "a"}, {.key = "full", .amount = -1}};
  const auto applied = apply("s", 0, 10, "", adds);
  ASSERT_TRUE(done(applied));
  if (traits().judges_sums) {
    EXPECT_TRUE(applied->refused.empty());
    EXPECT_EQ(total(*counter_, "full"), amount_max);
  } else {
    ASSERT_EQ(applied->refused.size(), 1U);
    EXPECT_EQ(applied->refused.front().index, 0U);
    EXPECT_EQ(total(*counter_, "full"), amount_max - 1);
  }
  EXPECT_EQ(total(*counter_, "a"), 1);
}

TEST_P(Streams, AreListedByPrefixWithPositionAndCheckpointAndForgotten) {
  const std::string bytes("\x00\xff\x01", 3);
  ASSERT_TRUE(done(apply("file:b", 0, 7, bytes, {})));
  ASSERT_TRUE(done(apply("file:a", 0, 3, "", {})));
  ASSERT_TRUE(done(apply("file%", 0, 3, "", {})));
  ASSERT_TRUE(done(apply("FILE:a", 0, 3, "", {})));
  const auto found = combiner_->streams("file:").value_or_throw();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "file:a");
  EXPECT_EQ(found[1].name, "file:b");
  EXPECT_EQ(found[1].position, 7);
  EXPECT_EQ(found[1].checkpoint, bytes);
  EXPECT_EQ(combiner_->streams("file%").value_or_throw().size(), 1U) << "a prefix is no pattern";
  const std::vector<std::string> names{"file:a", "never"};
  ASSERT_TRUE(done(combiner_->forget(names, in(long_wait))));
  EXPECT_EQ(combiner_->streams("").value_or_throw().size(), 3U);
  ASSERT_TRUE(done(apply("file:a", 0, 3, "", {}))) << "a forgotten stream is new again";
}

TEST_P(Streams, OfTwoSendersOnlyOneMovesTheStream) {
  constexpr int batches = 40;
  std::atomic<int> applied{0};
  std::vector<std::jthread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&, i] {
      auto database = another();
      auto counter = database.counter("page_views").value_or_throw();
      auto combiner = Combiner::open(database).value_or_throw();
      const std::vector<Add> adds{{.key = "k"}};
      const std::string mark = std::to_string(i);
      for (int batch = 0; batch < batches; ++batch) {
        const auto answer = combiner.apply(counter, {"shared", batch, batch + 1, mark, adds}, in(long_wait));
        if (answer && !answer->replay) ++applied;
        if (!answer) {
          EXPECT_TRUE(refused(answer, ErrorCode::stream_conflict));
        }
      }
    });
  }
  for (auto& sender : senders) sender.join();
  EXPECT_EQ(total(*counter_, "k"), applied);
  const auto stream = combiner_->streams("shared").value_or_throw();
  ASSERT_EQ(stream.size(), 1U);
  EXPECT_EQ(stream.front().position, applied);
}

}  // namespace
}  // namespace splitcount::contract
