// Begin, commit, rollback, and waiting for other sessions.
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

using Transactions = TestDatabase;

TEST_F(Transactions, AreBusyAtTheDeadlineWhereAnotherSessionWrites) {
  const auto counter = define("page_views", by_page());
  plain().run("BEGIN IMMEDIATE");
  const auto begun = connection().begin(deadline_in(std::chrono::milliseconds(20)));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::database_busy);
  EXPECT_TRUE(begun.error().retryable);
  EXPECT_FALSE(begun.error().connection_dead);
  EXPECT_TRUE(connection().healthy());
  plain().run("ROLLBACK");
  EXPECT_EQ(add(counter, to_key("k")), "0");
}

TEST_F(Transactions, OfEightThreadsAllGetTheirTurn) {
  constexpr int threads = 8;
  constexpr int adds_each = 150;
  auto rule = by_page();
  rule.retries.once = true;
  const auto counter = define("page_views", rule);
  plain().run("CREATE TABLE mine(a)");
  std::atomic<int> failed{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const auto own = connect(false);
      for (int i = 0; i < adds_each; ++i) {
        const auto id = fmt::format("{}-{}", t, i);
        const bool done = own->begin(deadline_in(std::chrono::seconds(60))) &&
                          own->apply(counter, std::vector{to_key("k", 1, 0, id)}, Refusal::all) && own->commit();
        if (!done) ++failed;
        if (i % 10 == 0 && !own->total(counter, "k")) ++failed;
      }
    });
  }
  std::atomic<bool> stop{false};
  std::thread user([&] {
    Plain other(path());
    while (!stop) other.run("INSERT INTO mine VALUES (1)");
  });
  for (auto& worker : workers) worker.join();
  stop = true;
  user.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(connection().total(counter, "k").value()->total, threads * adds_each);
}

TEST_F(Transactions, OfSeveralDefinersOnANewFileAllGetTheirTurn) {
  std::atomic<int> failed{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < 8; ++t) {
    workers.emplace_back([&, t] {
      const auto own = connect();
      const bool done = own && own->begin(deadline_in(std::chrono::seconds(60))) && own->install() &&
                        own->create(fmt::format("c{}", t), by_page()) && own->commit();
      if (!done) ++failed;
    });
  }
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(connection().list()->size(), 8U);
  EXPECT_EQ(plain().rows("PRAGMA journal_mode"), "wal");
}

TEST_F(Transactions, WithARollbackJournalAreBusyAtCommitWhereAReaderStays) {
  const auto counter = define("page_views", by_page());
  ASSERT_EQ(add(counter, to_key("k")), "0");
  disconnect();
  ASSERT_EQ(plain().rows("PRAGMA journal_mode = DELETE"), "delete");
  auto& c = connection();
  ASSERT_TRUE(c.begin(deadline_in(std::chrono::milliseconds(20))));
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("k")}, Refusal::all));
  plain().run("BEGIN");
  ASSERT_EQ(plain().rows("SELECT * FROM page_views"), "k|1");
  const auto committed = c.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::database_busy);
  EXPECT_FALSE(committed.error().outcome_unknown);
  plain().run("COMMIT");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|1");
  EXPECT_EQ(add(counter, to_key("k")), "0");
}

TEST_F(Transactions, LeaveAnotherJournalModeOfAnInstalledDatabaseAsItIs) {
  define("page_views", by_page());
  disconnect();
  ASSERT_EQ(plain().rows("PRAGMA journal_mode = DELETE"), "delete");
  connection();
  EXPECT_EQ(plain().rows("PRAGMA journal_mode"), "delete");
}

TEST_F(Transactions, AreOverAfterARollback) {
  const auto counter = define("page_views", by_page());
  auto& c = connection();
  c.rollback();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("k")}, Refusal::all));
  c.rollback();
  c.rollback();
  EXPECT_TRUE(c.healthy());
  EXPECT_EQ(add(counter, to_key("k")), "0");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|1");
}

}  // namespace
}  // namespace splitcount::engine::sqlite
