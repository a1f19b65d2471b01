// The layout journal on PostgreSQL: folds beside writers and readers, folds that are killed, and journals nobody folds.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <contract/contract.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

constexpr std::int64_t deltas_max = 100'000;     // limits::journal_deltas_max, which the docs give
constexpr std::int64_t deltas_overdue = 50'000;  // limits::journal_deltas_overdue

class Journal : public Ground<std::string> {
 protected:
  void SetUp() override {
    static const EngineUnderTest engine{"postgresql", Edition::defined, make_postgresql_stand, Layout::journal};
    start(engine);
    session_ = stand_->session();
  }
  /// The first value of what a statement answers.
  static std::string value(Session& session, const std::string& sql) {
    const auto rows = session.rows(sql);
    if (!rows) return rows.error().message;
    return rows->empty() ? std::string() : rows->front().front();
  }
  [[nodiscard]] std::string value(const std::string& sql) { return value(*session_, sql); }
  [[nodiscard]] std::int64_t number(const std::string& sql) { return std::stoll(value(sql)); }
  [[nodiscard]] std::int64_t pending() { return number("SELECT count(*) FROM page_views_deltas"); }
  [[nodiscard]] std::int64_t in_slots() { return number("SELECT coalesce(sum(n), 0) FROM page_views_slots"); }
  /// So many adds of 1 by the function, each counted; the server's statistics know of them when this returns.
  void append(std::int64_t count) {
    ASSERT_EQ(number("SELECT count(*) FROM generate_series(1, " + std::to_string(count) +
                     ") AS i WHERE page_views_add('/' || i % 7)"),
              count);
    ASSERT_TRUE(ran(session_->rows("SELECT pg_stat_force_next_flush()")));
  }
  /// Until nothing is left; what was folded.
  static std::int64_t maintain(Database& database) {
    const auto done_now = database.maintain("page_views");
    EXPECT_TRUE(done(done_now));
    if (!done_now || done_now->size() != 1) return -1;
    const auto& one = done_now->front();
    EXPECT_FALSE(one.error) << one.error->message;
    return one.deltas_folded;
  }
  std::unique_ptr<Session> session_;
};

/// Threads that go on until they are stopped.
class Background {
 public:
  template <class Work>
  void start(int count, Work work) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i, work] {
        while (!stop_) work(i);
      });
    }
  }
  void stop() {
    stop_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  ~Background() { stop(); }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> threads_;
};

TEST_F(Journal, ThreeFoldsAtOnceBesideEightWritersAreExact) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  const int adds = scale(100, 500, 10'000);
  std::array<std::atomic<std::int64_t>, 3> folded{};
  Background folds;
  folds.start(3, [&](int i) {
    static thread_local auto database = another();
    folded[static_cast<std::size_t>(i)] += maintain(database);
  });
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      auto session = stand_->session();
      auto mine = another().counter("page_views").value_or_throw();
      const std::vector<Add> many{{.key = "/0"}, {.key = "/1", .amount = -3}, {.key = "/0", .amount = 2}};
      for (int n = 0; n < adds; ++n) {
        const auto key = "/" + std::to_string(n % 5);
        if (writer % 4 == 0) {
          EXPECT_TRUE(done(mine.add(many)));
        } else {
          EXPECT_TRUE(ran(session->add("page_views", mine.rule(), {.key = key, .amount = writer + 1})));
        }
      }
    });
  }
  for (auto& writer : writers) writer.join();
  folds.stop();
  const std::int64_t expected = adds * std::int64_t{2 + 3 + 4 + 6 + 7 + 8};  // and nothing by writers 0 and 4
  EXPECT_EQ(total(counter), expected);
  EXPECT_EQ(in_slots() + number("SELECT coalesce(sum(n), 0) FROM page_views_deltas"), expected);
  for (const auto& by_one : folded) EXPECT_GT(by_one, 0) << "all three of them folded";
  maintain(*database_);
  EXPECT_EQ(pending(), 0);
  EXPECT_EQ(in_slots(), expected);
  EXPECT_EQ(stand_->damage(), "");
}

TEST_F(Journal, ReadersOfAnyAgeSeeNeitherADipNorADouble) {
  auto counter = make("page_views", {.key = "page"});
  append(1'000);
  std::atomic<std::int64_t> sent{1'000};
  std::atomic<int> folds{0};
  Background others;
  others.start(2, [&](int) {
    static thread_local auto mine = another().counter("page_views").value_or_throw();
    ++sent;
    EXPECT_TRUE(done(mine.add({.key = "/1"})));
  });
  others.start(2, [&](int) {
    static thread_local auto database = another();
    if (maintain(database) > 0) ++folds;
  });
  const int folds_wanted = scale(30, 300, 3'000);
  auto old = stand_->session();
  std::int64_t last = 1'000;
  std::int64_t last_old = 0;
  for (int round = 0; folds < folds_wanted; ++round) {
    const auto now = total(counter);
    EXPECT_GE(now, last);
    EXPECT_LE(now, sent);
    last = now;
    const auto by_view = number("SELECT sum(total) FROM page_views");
    EXPECT_GE(by_view, last);
    last = by_view;
    // A snapshot that stays while folds go on.
    ASSERT_TRUE(ran(old->run("BEGIN ISOLATION LEVEL REPEATABLE READ")));
    const auto frozen = value(*old, "SELECT page_views_total('/1')");
    const int folds_before = folds;
    do {
      EXPECT_EQ(value(*old, "SELECT total FROM page_views WHERE page = '/1'"), frozen);
      EXPECT_EQ(value(*old, "SELECT page_views_total('/1')"), frozen);
    } while (folds < std::min(folds_before + 3, folds_wanted));
    EXPECT_GE(std::stoll(frozen), last_old);
    last_old = std::stoll(frozen);
    ASSERT_TRUE(ran(old->rollback()));
  }
  others.stop();
  EXPECT_EQ(total(counter), sent);
}

TEST_F(Journal, AFoldThatIsKilledMidwayChangesNothing) {
  auto counter = make("page_views", {.key = "page"});
  append(5'000);
  maintain(*database_);
  append(5'000);
  auto blocker = stand_->session();
  auto folder = stand_->session();
  const auto pid = value(*folder, "SELECT pg_backend_pid()");
  // It has taken the deltas, and waits for a slot that somebody else has locked.
  ASSERT_TRUE(ran(blocker->run("BEGIN; SELECT 1 FROM page_views_slots FOR UPDATE")));
  std::jthread fold([&] { EXPECT_FALSE(folder->run("SELECT page_views_fold()").has_value()) << "it was killed"; });
  const auto waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " + pid;
  while (number(waiting) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(value("SELECT pg_terminate_backend(" + pid + ", 10000)"), "t");
  fold.join();
  EXPECT_EQ(total(counter), 10'000);
  ASSERT_TRUE(ran(blocker->rollback()));
  EXPECT_EQ(pending(), 5'000);
  EXPECT_EQ(in_slots(), 5'000);
  // And one that was done, in a transaction that never ended.
  auto other = stand_->session();
  const auto other_pid = value(*other, "SELECT pg_backend_pid()");
  ASSERT_TRUE(ran(other->begin()));
  EXPECT_EQ(value(*other, "SELECT folded FROM page_views_fold(NULL, 60000)"), "5000");
  EXPECT_EQ(value(*other, "SELECT sum(n) FROM page_views_slots"), "10000");
  EXPECT_EQ(total(counter), 10'000) << "others see neither half of it";
  EXPECT_EQ(value("SELECT pg_terminate_backend(" + other_pid + ", 10000)"), "t");
  EXPECT_EQ(pending(), 5'000);
  EXPECT_EQ(in_slots(), 5'000);
  EXPECT_EQ(maintain(*database_), 5'000);
  EXPECT_EQ(total(counter), 10'000);
}

TEST_F(Journal, OneThatSomebodyElseIsFoldingIsAnErrorOfMaintainAndOtherCountersAreDone) {
  auto counter = make("page_views", {.key = "page"});
  auto likes = make("likes", {});
  append(10);
  ASSERT_TRUE(done(likes.add(Add{})));
  auto other = stand_->session();
  ASSERT_TRUE(ran(other->run("BEGIN; SELECT page_views_fold()")));
  ASSERT_TRUE(done(counter.add({.key = "/1"}))) << "adds do not wait for it";
  const auto maintained = database_->maintain();
  ASSERT_TRUE(done(maintained));
  ASSERT_EQ(maintained->size(), 2U);
  EXPECT_EQ(maintained->front().counter, "likes");
  EXPECT_EQ(maintained->front().deltas_folded, 1);
  EXPECT_FALSE(maintained->front().error);
  ASSERT_TRUE(maintained->back().error);
  EXPECT_EQ(maintained->back().error->code, ErrorCode::database_busy);
  EXPECT_TRUE(maintained->back().error->retryable);
  ASSERT_TRUE(ran(other->commit()));
  EXPECT_EQ(maintain(*database_), 1);
  EXPECT_EQ(total(counter), 11);
}

TEST_F(Journal, PendingDeltasStayBoundedWhereNobodyMaintains) {
  auto counter = make("page_views", {.key = "page"});
  std::int64_t appended = 0;
  std::int64_t most = 0;
  constexpr std::int64_t step = 5'000;
  for (const auto end = deltas_max + scale(30'000, 150'000, 1'000'000); appended < end; appended += step) {
    append(step);
    most = std::max(most, pending());
  }
  EXPECT_GT(most, deltas_max - step);
  // At 200 adds for one look, and some 3,000 deltas for each that folds.
  EXPECT_LT(most, deltas_max + 4 * step);
  EXPECT_GT(in_slots(), 0);
  EXPECT_EQ(total(counter), appended);
  EXPECT_EQ(stand_->damage(), "");
}

TEST_F(Journal, AnAddBeyondTheLimitDoesNotFoldAboveReadCommittedNorWhereSomebodyElseFolds) {
  make("page_views", {.key = "page"});
  append(deltas_max + 10'000);
  ASSERT_EQ(in_slots(), 0) << "the statistics come when the statement has ended";
  ASSERT_TRUE(ran(session_->run("BEGIN ISOLATION LEVEL REPEATABLE READ")));
  append(5'000);
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(in_slots(), 0);
  auto other = stand_->session();
  ASSERT_TRUE(ran(other->run("BEGIN; SELECT * FROM page_views_fold(0)")));
  append(5'000);
  EXPECT_EQ(in_slots(), 0);
  ASSERT_TRUE(ran(other->rollback()));
  append(5'000);
  EXPECT_GT(in_slots(), 0);
  EXPECT_EQ(number("SELECT sum(total) FROM page_views"), deltas_max + 25'000);
}

TEST_F(Journal, StatusNamesTheCounterWhoseFoldIsOverdue) {
  make("page_views", {.key = "page"});
  make("likes", {});
  append(deltas_overdue);
  EXPECT_TRUE(database_->status().value_or_throw().overdue.empty());
  append(1);
  const auto overdue = database_->status().value_or_throw().overdue;
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_NE(overdue.front().find("page_views"), std::string::npos) << overdue.front();
  EXPECT_NE(overdue.front().find("splitcount maintain"), std::string::npos) << overdue.front();
  EXPECT_EQ(maintain(*database_), deltas_overdue + 1);
  EXPECT_TRUE(database_->status().value_or_throw().overdue.empty());
}

class JournalAtEveryLevel : public Journal {};
INSTANTIATE_TEST_SUITE_P(Level, JournalAtEveryLevel,
                         testing::Values("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"),
                         [](const auto& tested) {
                           auto name = tested.param;
                           std::erase(name, ' ');
                           return name;
                         });

TEST_P(JournalAtEveryLevel, AddsOfManySessionsToOneKeyNeverConflictBesideFolds) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  Background folds;
  std::atomic<int> folded{0};
  folds.start(1, [&](int) {
    static thread_local auto database = another();
    if (maintain(database) > 0) ++folded;
  });
  constexpr int sessions = 16;
  const int rounds = scale(10, 60, 1'000);
  std::vector<std::jthread> writers;
  for (int i = 0; i < sessions; ++i) {
    writers.emplace_back([&, i] {
      auto session = stand_->session();
      auto mine = another().counter("page_views").value_or_throw();
      for (int round = 0; round < rounds; ++round) {
        const auto id = std::to_string(i) + "/" + std::to_string(round);
        EXPECT_TRUE(ran(session->run("BEGIN ISOLATION LEVEL " + GetParam())));
        EXPECT_TRUE(ran(session->add("page_views", mine.rule(), {.key = "/hot"})));
        EXPECT_TRUE(done(mine.add(session->caller(), Add{.key = "/hot", .request_id = id})));
        EXPECT_TRUE(ran(session->commit()));
      }
    });
  }
  for (auto& writer : writers) writer.join();
  folds.stop();
  EXPECT_EQ(total(counter), 2 * sessions * rounds);
  EXPECT_GT(folded, 0);
}

TEST_F(Journal, AnAmountThatNeedsJudgingTakesWhatIsPendingIntoAccount) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  ASSERT_TRUE(done(counter.add({.key = "k", .amount = 5})));
  EXPECT_TRUE(refused(counter.add({.key = "k", .amount = amount_max}), ErrorCode::out_of_range));
  EXPECT_EQ(pending(), 1) << "what was refused has moved nothing";
  ASSERT_TRUE(done(counter.add({.key = "k", .amount = amount_max - 5})));
  EXPECT_EQ(pending(), 0);
  EXPECT_TRUE(refused(counter.add({.key = "k"}), ErrorCode::out_of_range));
  ASSERT_TRUE(done(counter.add({.key = "k", .slot = 1}))) << "another slot has room";
  ASSERT_TRUE(done(counter.add({.key = "k", .amount = -1})));
  EXPECT_EQ(maintain(*database_), 1);
  EXPECT_EQ(slots(counter, "k"), (std::vector<Slot>{{0, amount_max - 1}, {1, 1}}));
  EXPECT_EQ(total(counter, "k"), amount_max);
}

TEST_F(Journal, WhatASlotCannotHoldStaysPendingAndIsReadAsOutOfRange) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  ASSERT_TRUE(ran(session_->run("BEGIN; SELECT page_views_add('k'), page_views_add('other')")));
  ASSERT_TRUE(done(counter.add({.key = "k", .amount = amount_max}))) << "nobody sees the open add";
  ASSERT_TRUE(ran(session_->commit()));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(refused(counter.total("k"), ErrorCode::out_of_range));
    EXPECT_TRUE(refused(counter.slots("k"), ErrorCode::out_of_range));
    EXPECT_EQ(total(counter, "other"), 1);
    maintain(*database_);
    EXPECT_EQ(pending(), 1) << "only what fits has moved";
    EXPECT_EQ(value("SELECT n FROM page_views_slots WHERE page = 'k'"), std::to_string(amount_max));
  }
  ASSERT_TRUE(done(counter.add({.key = "k", .amount = -3})));
  EXPECT_EQ(total(counter, "k"), amount_max - 2);
  EXPECT_EQ(pending(), 0);
}

TEST_F(Journal, AnOldSnapshotCostsAtMost64BytesAnAddAndNothingWhenItHasGone) {
  make("page_views", {.key = "page"});
  const auto size = [this] {
    return number("SELECT pg_total_relation_size('page_views_deltas') + pg_total_relation_size('page_views_slots')");
  };
  const std::int64_t adds = scale(20'000, 60'000, 1'000'000);
  const auto count_them = [&] {
    for (std::int64_t n = 0; n < adds; n += 10'000) {
      append(10'000);
      maintain(*database_);
    }
  };
  auto old = stand_->session();
  ASSERT_TRUE(ran(old->run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT total FROM page_views")));
  count_them();
  ASSERT_TRUE(ran(session_->run("VACUUM page_views_deltas, page_views_slots")));
  const auto with_old = size();
  EXPECT_LE(with_old, 64 * adds);
  EXPECT_GT(with_old, 40 * adds) << "the old snapshot kept what it could see";
  ASSERT_TRUE(ran(old->rollback()));
  ASSERT_TRUE(ran(session_->run("VACUUM page_views_deltas, page_views_slots")));
  count_them();
  EXPECT_LE(size(), with_old);
  EXPECT_EQ(number("SELECT sum(total) FROM page_views"), 2 * adds);
}

}  // namespace
}  // namespace splitcount::faults
