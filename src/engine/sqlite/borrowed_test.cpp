// Adds within the caller's own transaction.
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

class Borrowed : public TestDatabase {
 protected:
  Result<std::vector<Result<Added>>> add_in_theirs(const StoredCounter& counter, const std::vector<ReadyAdd>& adds) {
    const auto borrowed = engine::borrow(plain().get());
    if (!borrowed) return fail(borrowed.error());
    return (*borrowed)->apply(counter, adds, Refusal::all);
  }
};

TEST_F(Borrowed, AddsCommitAndRollBackWithTheCaller) {
  const auto counter = define("page_views", by_page());
  plain().run("CREATE TABLE mine(a); BEGIN; INSERT INTO mine VALUES (1)");
  ASSERT_TRUE(add_in_theirs(counter, {to_key("k"), to_key("k", 2)}));
  EXPECT_FALSE(connection().total(counter, "k").value());
  plain().run("COMMIT");
  EXPECT_EQ(connection().total(counter, "k").value()->total, 3);
  plain().run("BEGIN");
  ASSERT_TRUE(add_in_theirs(counter, {to_key("k")}));
  plain().run("ROLLBACK");
  EXPECT_EQ(connection().total(counter, "k").value()->total, 3);
}

TEST_F(Borrowed, NeedsATransaction) {
  define("page_views", by_page());
  EXPECT_EQ(code_of(engine::borrow(plain().get())), "no_transaction");
  EXPECT_EQ(code_of(engine::borrow(static_cast<sqlite3*>(nullptr))), "invalid_argument");
}

TEST_F(Borrowed, LeavesTheHandleReadyToClose) {
  const auto counter = define("page_views", by_page());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, "BEGIN", nullptr, nullptr, nullptr), SQLITE_OK);
  {
    const auto borrowed = engine::borrow(handle);
    ASSERT_TRUE(borrowed);
    ASSERT_TRUE((*borrowed)->apply(counter, std::vector{to_key("k")}, Refusal::all));
  }
  ASSERT_EQ(sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_next_stmt(handle, nullptr), nullptr);
  EXPECT_EQ(sqlite3_close(handle), SQLITE_OK);
}

TEST_F(Borrowed, WaitsForTheLockAsTheCallersTimeoutSays) {
  const auto counter = define("page_views", by_page());
  sqlite3_busy_timeout(plain().get(), 60'000);
  ASSERT_TRUE(connection().begin(soon()));
  plain().run("BEGIN");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(connection().apply(counter, std::vector{to_key("k")}, Refusal::all));
    EXPECT_TRUE(connection().commit());
  });
  const auto applied = add_in_theirs(counter, {to_key("k")});
  other.join();
  EXPECT_EQ(code_of(applied), "done");
  plain().run("COMMIT");
  EXPECT_EQ(connection().total(counter, "k").value()->total, 2);
}

TEST_F(Borrowed, SaysWhatToDoWhereTheTransactionReadBeforeAnotherWrote) {
  const auto counter = define("page_views", by_page());
  plain().run("BEGIN");
  ASSERT_EQ(plain().rows("SELECT * FROM page_views"), "");
  ASSERT_EQ(add(counter, to_key("k")), "0");
  const auto applied = add_in_theirs(counter, {to_key("k")});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::serialization_failure);
  EXPECT_EQ(applied.error().native_code, SQLITE_BUSY_SNAPSHOT);
  EXPECT_TRUE(applied.error().retryable);
  EXPECT_TRUE(applied.error().transaction_dead);
  EXPECT_NE(applied.error().message.find("roll back and begin again"), std::string::npos);
  plain().run("ROLLBACK; BEGIN");
  EXPECT_EQ(code_of(add_in_theirs(counter, {to_key("k")})), "done");
  plain().run("COMMIT");
  EXPECT_EQ(connection().total(counter, "k").value()->total, 2);
}

TEST_F(Borrowed, RefusalsLeaveTheTransactionAsItWas) {
  const auto counter = define("page_views", by_page());
  plain().run("CREATE TABLE mine(a); BEGIN; INSERT INTO mine VALUES (1)");
  ASSERT_TRUE(add_in_theirs(counter, {to_key("k", std::numeric_limits<std::int64_t>::max())}));
  const auto refused = add_in_theirs(counter, {to_key("a"), to_key("k"), to_key("z")});
  EXPECT_EQ(code_of(refused), "out_of_range");
  EXPECT_FALSE(refused.error().transaction_dead);
  plain().run("COMMIT");
  EXPECT_EQ(plain().rows("SELECT page FROM page_views"), "k");
  EXPECT_EQ(plain().rows("SELECT * FROM mine"), "1");
}

TEST_F(Borrowed, SaysThatTheTransactionIsDeadWhereThereIsNoRoom) {
  const auto counter = define("page_views", by_page());
  plain().run("PRAGMA max_page_count = 1; BEGIN");
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(fmt::format("{:0>700}", i));
  std::vector<ReadyAdd> adds;
  for (const auto& key : keys) adds.push_back(to_key(key));
  const auto applied = add_in_theirs(counter, adds);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::disk_full);
  EXPECT_TRUE(applied.error().transaction_dead);
  plain().run("ROLLBACK");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_slots"), "0");
}

TEST_F(Borrowed, SaysThatNothingIsInstalledInAnotherDatabase) {
  const auto counter = define("page_views", by_page());
  Plain other(folder_.file("other.db"));
  other.run("BEGIN");
  const auto borrowed = engine::borrow(other.get());
  ASSERT_TRUE(borrowed);
  EXPECT_EQ(code_of((*borrowed)->apply(counter, std::vector{to_key("k")}, Refusal::all)), "not_installed");
}

}  // namespace
}  // namespace splitcount::engine::sqlite
