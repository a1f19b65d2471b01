// What MariaDB does in its own way: deadlocks of those who wait for one row, locks that prepared transactions keep, the
// caller's sql_mode, snapshots, lock waits that run out, sessions that are killed, definitions that stop half way.
#include <barrier>
#include <filesystem>
#include <fstream>
#include <random>

#include <contract/mariadb_server.h>
#include <faults/child.h>
#include <faults/relayed.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using contract::done;
using contract::refused;
using std::chrono::milliseconds;

const Retries for_ever{true, {}};
const std::string refusal_of_ours = "1644";
constexpr milliseconds trx_pause{150};

class Mariadb : public RelayedGround<testing::Test> {
 protected:
  Mariadb() : RelayedGround(Server::mariadb) {}
  /// CALL page_views_add for a key.
  static std::string call(const std::string& key, const std::string& id = "NULL", const std::string& slot = "NULL",
                          const std::string& amount = "1") {
    return "CALL page_views_add(" + key + ", " + amount + ", " + id + ", NULL, " + slot + ", @counted)";
  }
  static void must(Plain& plain, const std::string& sql) { ASSERT_EQ(plain.run(sql), sql.substr(0, sql.find(' '))) << sql; }
  /// What INNODB_TRX says is renewed only when nobody has looked for a tenth of a second.
  void wait_until(const std::string& sql, const std::string& expected, milliseconds pause = milliseconds(5)) {
    const auto deadline = in(std::chrono::seconds(30));
    while (value(sql) != expected && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(pause);
    ASSERT_EQ(value(sql), expected) << sql;
  }
  /// In a thread each, all beginning together.
  template <class Work>
  void in_sessions(int count, Work work) {
    std::barrier together(count);
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        auto plain = plain_beside();
        work(i, plain, together);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  /// A user who may do everything in this database and nothing elsewhere.
  std::string dsn_of_user() {
    const auto slash = place_.dsn.find('/', std::string_view("mariadb://").size());
    const auto database = place_.dsn.substr(slash + 1, place_.dsn.find('?') - slash - 1);
    value("CREATE USER IF NOT EXISTS app@localhost");
    value("GRANT ALL ON " + database + ".* TO app@localhost");
    return "mariadb://app@" + place_.dsn.substr(slash);
  }
};

TEST_F(Mariadb, FirstAddsOfANewKeyByManySessionsAtRepeatableReadNeverDeadlock) {
  constexpr int sessions = 64;
  const int keys = scale(3, 15, 200);
  for (const auto pick : {Pick::spread, Pick::session, Pick::random}) {
    make("page_views", {.key = "page", .slots = 4, .pick = pick});
    in_sessions(sessions, [&](int i, Plain& plain, auto& together) {
      must(plain, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      for (int key = 0; key < keys; ++key) {
        together.arrive_and_wait();
        if (i % 2 == 0) must(plain, "BEGIN");
        EXPECT_EQ(plain.run(call("'new" + std::to_string(key) + "'")), "CALL");
        if (i % 2 == 0) must(plain, i % 8 == 0 ? "ROLLBACK" : "COMMIT");  // those who wait for the row live on
      }
    });
    EXPECT_EQ(total("page_views"), (sessions - sessions / 8) * keys);
    ASSERT_TRUE(done(beside_.drop("page_views")));
  }
}

TEST_F(Mariadb, ThoseWhoWaitForAnIdThatIsRolledBackAllLive) {
  make("page_views", {.key = "page", .slots = 2, .retries = for_ever});
  value("CREATE TABLE orders (id integer)");
  int expected = 0;
  for (const int waiters : {4, 6}) {
    for (const auto* level : {"READ COMMITTED", "REPEATABLE READ"}) {
      const auto id = "'id" + std::to_string(expected) + "'";
      auto holder = plain_beside();
      must(holder, "BEGIN");
      ASSERT_EQ(holder.run(call("'k'", id)), "CALL");
      std::atomic<int> counted{0};
      std::jthread rolls_back([&] {
        wait_until("SELECT count(*) >= " + std::to_string(waiters - 1) +
                       " FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE = 'User lock'", "1");
        must(holder, "ROLLBACK");
      });
      in_sessions(waiters, [&](int i, Plain& plain, auto& together) {
        must(plain, std::string("SET SESSION TRANSACTION ISOLATION LEVEL ") + level);
        must(plain, "BEGIN");
        must(plain, "INSERT INTO orders VALUES (" + std::to_string(i) + ")");
        together.arrive_and_wait();
        EXPECT_EQ(plain.run(call("'k'", id)), "CALL");
        counted += plain.run("SELECT @counted") == "1" ? 1 : 0;
        EXPECT_EQ(plain.run("COMMIT"), "COMMIT");
      });
      rolls_back.join();
      EXPECT_EQ(counted, 1) << "the others are replays";
      EXPECT_EQ(total("page_views", "k"), ++expected);
    }
  }
  EXPECT_EQ(value("SELECT count(*) FROM orders"), "20") << "no transaction was ended by a deadlock";
}

TEST_F(Mariadb, APreparedTransactionKeepsNobodyWaitingWhileSlotsAreFree) {
  for (const auto pick : {Pick::session, Pick::spread, Pick::free}) {
    make("page_views", {.key = "page", .slots = 4, .pick = pick}, {"k"});
    {
      auto gone = plain_beside();
      must(gone, "XA START 'kept'");
      ASSERT_EQ(gone.run(call("'k'")), "CALL");
      must(gone, "XA END 'kept'");
      must(gone, "XA PREPARE 'kept'");
    }
    wait_until("SELECT count(*) FROM information_schema.INNODB_TRX WHERE TRX_MYSQL_THREAD_ID = 0", "1", trx_pause);
    in_sessions(3, [&](int, Plain& plain, auto& together) {
      must(plain, "SET SESSION innodb_lock_wait_timeout = 1");
      for (int n = 0; n < 5; ++n) {
        must(plain, "BEGIN");
        EXPECT_EQ(plain.run(call("'k'")), "CALL") << "three at once, and three slots are free";
        together.arrive_and_wait();
        must(plain, "COMMIT");
        together.arrive_and_wait();
      }
    });
    EXPECT_EQ(total("page_views", "k"), 15);
    EXPECT_EQ(value("XA COMMIT 'kept'"), "XA");
    EXPECT_EQ(total("page_views", "k"), 16);
    ASSERT_TRUE(done(beside_.drop("page_views")));
  }
}

TEST_F(Mariadb, AnAmountOfNothingIsAnAddAlsoWhereFoundRowsAreCounted) {
  make("page_views", {.key = "page", .slots = 2, .missing = Missing::error}, {"k"});
  const auto stand = contract::make_mariadb_stand_of_found_rows();
  auto database = Database::open(stand->dsn()).value_or_throw();
  auto counter = database.define("page_views", {.key = "page", .slots = 2, .retries = for_ever}).value_or_throw();
  auto session = stand->session();
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(value(call("'k'", "NULL", "0", "0")), "CALL") << "no row changes, and it is there";
    EXPECT_EQ(value(call("'other'", "NULL", "0", "0")), refusal_of_ours);
    EXPECT_TRUE(contract::ran(session->run(call("'k'", "'zero'", "NULL", "0"))));
    EXPECT_EQ(session->rows("SELECT @counted").value().front().front(), n == 0 ? "1" : "0");
    EXPECT_TRUE(contract::ran(session->run(call("'k'", "'one'", "NULL", "5"))));
    EXPECT_EQ(session->rows("SELECT @counted").value().front().front(), n == 0 ? "1" : "0");
  }
  EXPECT_EQ(total("page_views", "k"), 0);
  EXPECT_EQ(counter.total("k").value_or_throw().total, 5);
}

TEST_F(Mariadb, TheCallersSqlModeMakesNothingFit) {
  make("page_views", {.key = "page", .slots = 2, .retries = for_ever});
  auto plain = plain_beside();
  must(plain, "SET SESSION sql_mode = ''");
  const auto key = [](int bytes) { return "repeat('k', " + std::to_string(bytes) + ")"; };
  for (const auto& sql : {call("'k'", "NULL", "NULL", "9223372036854775808"), call("'k'", "NULL", "NULL", "1e30"),
                          call("'k'", "NULL", "NULL", "1.5"), call("'k'", "NULL", "NULL", "'5x'"), call(key(769)),
                          call(key(5'000)), call("''"), call("x'61ff'"), call("x'eda080'"), call("'k'", key(129)),
                          call("'k'", "''"), call("'k'", "NULL", "99999999999")}) {
    EXPECT_EQ(plain.run(sql), refusal_of_ours) << sql;
  }
  EXPECT_EQ(value("SELECT count(*) FROM page_views_slots"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM page_views_requests"), "0");
  EXPECT_EQ(plain.run(call(key(768), key(128), "1", "9223372036854775807")), "CALL");
  EXPECT_EQ(total("page_views"), INT64_MAX);
}

TEST_F(Mariadb, AUserWithoutSuperDefinesAndCountsBesideABinaryLog) {
  const auto dsn = dsn_of_user();
  EXPECT_EQ(value("SELECT @@log_bin"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = \"'app'@'localhost'\" "
                  "AND PRIVILEGE_TYPE <> 'USAGE'"),
            "0");
  auto database = Database::open(dsn).value_or_throw();
  auto counter = database.define("page_views", {.key = "page", .slots = 3, .retries = for_ever}).value_or_throw();
  EXPECT_TRUE(done(counter.add({.key = "k", .request_id = "x"})));
  Plain plain(dsn);
  EXPECT_EQ(plain.run(call("'k'", "'y'")), "CALL");
  EXPECT_EQ(total("page_views", "k"), 2);
  EXPECT_TRUE(done(database.drop("page_views")));
}

TEST_F(Mariadb, ATotalAtRepeatableReadIsAsOldAsItsSnapshotButForTheSlotOfItsOwnAdd) {
  make("page_views", {.key = "page", .slots = 2}, {"k"});
  auto plain = plain_beside();
  const std::string total_of = "SELECT total FROM page_views WHERE page = 'k'";
  must(plain, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  must(plain, "BEGIN");
  EXPECT_EQ(plain.run(total_of), "0");
  EXPECT_EQ(value(call("'k'", "NULL", "0", "10")), "CALL");
  EXPECT_EQ(value(call("'k'", "NULL", "1", "100")), "CALL");
  EXPECT_EQ(plain.run(total_of), "0");
  EXPECT_EQ(plain.run(call("'k'", "NULL", "0")), "CALL");
  EXPECT_EQ(plain.run(total_of), "11") << "its own slot, with what the other had committed there; not the other slot";
  must(plain, "COMMIT");
  EXPECT_EQ(plain.run(total_of), "111");
}

TEST_F(Mariadb, ARowNewerThanTheSnapshotIsASerializationFailureWhereTheServerIsToldToSay) {
  auto counter = make("page_views", {.key = "page", .slots = 2}, {"k"});
  auto plain = plain_beside();
  must(plain, "SET SESSION innodb_snapshot_isolation = ON");
  must(plain, "BEGIN");
  EXPECT_EQ(plain.run("SELECT total FROM page_views WHERE page = 'k'"), "0");
  EXPECT_EQ(value(call("'k'", "NULL", "0", "10")), "CALL");
  const auto added = counter.add(plain.caller(), {.key = "k", .slot = 0});
  ASSERT_TRUE(refused(added, ErrorCode::serialization_failure));
  EXPECT_EQ(added.error().native_code, 1020);
  EXPECT_TRUE(added.error().retryable);
  plain.run("ROLLBACK");
  must(plain, "BEGIN");
  EXPECT_TRUE(done(counter.add(plain.caller(), {.key = "k", .slot = 0})));
  must(plain, "COMMIT");
  EXPECT_EQ(total("page_views", "k"), 11);
}

TEST_F(Mariadb, AGroupThatWaitedForALockForTooLongIsRolledBackWholeAndSentAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 1}, {"a", "b", "z"});
  auto combiner = Combiner::open(through_, {.wait_ms_max = milliseconds(1'200)}).value_or_throw();
  auto holder = plain_beside();
  must(holder, "BEGIN");
  ASSERT_EQ(holder.run(call("'z'")), "CALL");
  const std::vector<Add> adds{{.key = "a"}, {.key = "b", .amount = 2}, {.key = "z", .amount = 3}};
  relay_.plan({.action = Action::hold_before, .statement = "START TRANSACTION", .times = 1'000});  // counts them
  auto answers = submit(combiner, counter, adds);
  const auto deadline = in(std::chrono::seconds(45));
  while (relay_.fired() < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_GE(relay_.fired(), 2) << "a wait has ended, and the transaction begins anew";
  EXPECT_EQ(value("SELECT sum(n) FROM page_views_slots"), "0") << "nothing of it is left";
  must(holder, "COMMIT");
  for (const auto& answer : answers.get()) EXPECT_TRUE(done(answer));
  EXPECT_EQ(total("page_views", "a"), 1);
  EXPECT_EQ(total("page_views", "b"), 2);
  EXPECT_EQ(total("page_views", "z"), 4);
}

/// Error 1205 itself, which a trigger gives, since ours give up by max_statement_time a moment before it. What is written to
/// a table without transactions stays.
TEST_F(Mariadb, AGroupThatIsAnsweredWith1205IsRolledBackWholeAndSentAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 1}, {"a", "b", "z"});
  auto combiner = Combiner::open(through_).value_or_throw();
  value("CREATE TABLE trouble (n integer) ENGINE = MyISAM");
  value("INSERT INTO trouble VALUES (0)");
  EXPECT_EQ(value("CREATE TRIGGER failing BEFORE UPDATE ON page_views_slots FOR EACH ROW IF NEW.page = 'z' THEN "
                  "UPDATE trouble SET n = n + 1; IF (SELECT n FROM trouble) <= 4 THEN "
                  "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205; END IF; END IF"),
            "CREATE");
  relay_.plan({.action = Action::hold_before, .statement = "START TRANSACTION", .times = 1'000});  // counts them
  const std::vector<Add> adds{{.key = "a"}, {.key = "b", .amount = 2}, {.key = "z", .amount = 3}};
  for (const auto& answer : submit(combiner, counter, adds).get()) EXPECT_TRUE(done(answer));
  EXPECT_GE(relay_.fired(), 2) << "a procedure tries a slot several times before it gives up";
  EXPECT_EQ(value("SELECT n FROM trouble"), "5") << "four writes failed";
  EXPECT_EQ(total("page_views", "a"), 1);
  EXPECT_EQ(total("page_views", "b"), 2);
  EXPECT_EQ(total("page_views", "z"), 3);
}

TEST_F(Mariadb, ThoseWhoAreKilledAreToldSoAndNothingOfThemCounts) {
  auto counter = make("page_views", {.key = "page", .slots = 1}, {"k"});
  auto holder = plain_beside();
  must(holder, "BEGIN");
  ASSERT_EQ(holder.run(call("'k'")), "CALL");
  for (const auto* kill : {"KILL QUERY ", "KILL "}) {
    auto plain = plain_beside();
    const auto id = plain.run("SELECT CONNECTION_ID()");
    must(plain, "BEGIN");
    std::jthread killer([&] {
      wait_until("SELECT count(*) FROM information_schema.INNODB_TRX WHERE TRX_STATE = 'LOCK WAIT' "
                 "AND TRX_MYSQL_THREAD_ID = " + id, "1", trx_pause);
      value(kill + id);
    });
    const auto added = counter.add(plain.caller(), {.key = "k"});
    killer.join();
    const bool only_query = std::string(kill) == "KILL QUERY ";
    ASSERT_TRUE(refused(added, only_query ? ErrorCode::transaction_failed : ErrorCode::connection_lost)) << kill;
    EXPECT_TRUE(added.error().retryable);
    EXPECT_EQ(added.error().connection_dead, !only_query);
    if (only_query) {
      EXPECT_EQ(added.error().native_code, 1317);
      must(plain, "ROLLBACK");
    }
  }
  must(holder, "COMMIT");
  EXPECT_EQ(total("page_views", "k"), 1);
}

TEST_F(Mariadb, AServerThatOnlyReadsSaysSo) {
  const auto dsn = dsn_of_user();
  make("page_views", {.key = "page", .slots = 2}, {"k"});
  auto counter = Database::open(dsn).value_or_throw().counter("page_views").value_or_throw();
  // What the procedure writes it writes as its owner: one who is no exception either.
  value("SET GLOBAL read_only = ON");
  const auto added = counter.add({.key = "k"});
  value("SET GLOBAL read_only = OFF");
  ASSERT_TRUE(refused(added, ErrorCode::read_only));
  EXPECT_EQ(added.error().native_code, 1290);
  EXPECT_FALSE(added.error().retryable);
  EXPECT_TRUE(done(counter.add({.key = "k"})));
  EXPECT_EQ(total("page_views", "k"), 1);
}

TEST_F(Mariadb, TwoWhoDefineAtOnceComeOneAfterTheOther) {
  for (int round = 0; round < scale(2, 10, 50); ++round) {
    in_sessions(4, [&](int i, Plain&, auto& together) {
      auto database = Database::open(place_.dsn).value_or_throw();
      together.arrive_and_wait();
      const RuleOptions rule{.key = "page", .slots = 3};
      EXPECT_TRUE(done(database.define(i < 2 ? "page_views" : "other_" + std::to_string(i), rule)));
    });
    EXPECT_EQ(beside_.list().value_or_throw().size(), 3U);
    EXPECT_EQ(value(call("'k'")), "CALL");
    for (const auto* name : {"page_views", "other_2", "other_3"}) EXPECT_TRUE(done(beside_.drop(name)));
  }
}

TEST_F(Mariadb, WhatKilledDefinitionsAndDropsLeaveIsClearedAwayByTheNext) {
  std::mt19937_64 random(seed());
  ASSERT_TRUE(done(beside_.define("other", {})));
  const auto objects = stand_->objects();
  int half_done = 0;
  const int kills = scale(8, 30, 400);
  auto watcher = plain_beside();
  /// Every other time at a moment after its rule was seen not to be ready.
  const auto random_kill = [&](const char* verb, bool half_way) {
    Child child({verb, place_.dsn, "page_views"});
    const auto deadline = in(milliseconds(half_way ? 2'000 : 0));
    while (std::chrono::steady_clock::now() < deadline &&
           watcher.run("SELECT count(*) FROM splitcount_counters WHERE NOT ready") == "0") {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_between(random, 0, half_way ? 15'000 : 60'000)));
    child.kill();
    child.wait();
  };
  const auto is_listed = [&] { return beside_.list().value_or_throw().size() == 2; };
  for (int kill = 0; kill < kills; ++kill) {
    random_kill("define", kill % 2 == 0);
    // The server still runs the statement that was on its way.
    wait_until("SELECT IS_FREE_LOCK(CONCAT('splitcount_define_', LEFT(SHA1(DATABASE()), 40)))", "1");
    half_done += !is_listed() && stand_->objects() != objects ? 1 : 0;
    auto counter = beside_.define("page_views", {.key = "page", .slots = 4, .retries = for_ever});
    ASSERT_TRUE(done(counter)) << kill;
    ASSERT_TRUE(done(counter->add({.key = "k", .request_id = "x"})));
    random_kill("drop", kill % 2 == 1);
    wait_until("SELECT IS_FREE_LOCK(CONCAT('splitcount_define_', LEFT(SHA1(DATABASE()), 40)))", "1");
    if (is_listed()) {
      ASSERT_TRUE(done(beside_.counter("page_views").value_or_throw().add({.key = "k", .request_id = "y"}))) << kill;
    } else {
      half_done += stand_->objects() != objects ? 1 : 0;
      auto again = beside_.define("page_views", {.key = "page", .slots = 2});
      ASSERT_TRUE(done(again)) << kill << ": with another rule, since nothing of the old one counts";
      ASSERT_TRUE(done(again->add({.key = "k"})));
      EXPECT_EQ(total("page_views", "k"), 1);
    }
    ASSERT_TRUE(done(beside_.drop("page_views")));
    ASSERT_EQ(stand_->objects(), objects) << kill;
  }
  std::cout << half_done << " of " << 2 * kills << " were half done\n";
  EXPECT_GT(half_done, 0) << "some were killed in between";
}

/// A server where a lock that was waited for too long ends the whole transaction, which is set at its start.
TEST(MariadbServers, ThatRollBackOnATimeoutStayExact) {
  contract::MariadbServer server(false);
  std::ofstream(std::filesystem::path(server.socket()).parent_path() / "settings", std::ios::app)
      << "innodb-rollback-on-timeout = ON\n";
  server.kill();
  server.start();
  Plain admin(server.dsn("mysql"));
  ASSERT_EQ(admin.run("SELECT @@innodb_rollback_on_timeout"), "1");
  admin.run("CREATE DATABASE faults");
  const auto dsn = server.dsn("faults");
  auto database = Database::open(dsn).value_or_throw();
  for (const auto missing : {Missing::create, Missing::error}) {
    const RuleOptions rule{.key = "page", .slots = 2, .missing = missing, .retries = for_ever};
    auto counter = database.define("page_views", rule, std::vector<std::string>{"k"}).value_or_throw();
    Plain(dsn).run("CREATE OR REPLACE TABLE orders (id integer)");
    constexpr int sessions = 8;
    const int adds = scale(10, 50, 200);
    std::atomic<int> acked{0};
    std::atomic<int> ended{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < sessions; ++i) {
      threads.emplace_back([&, i] {
        Plain plain(dsn);
        plain.run("SET SESSION innodb_lock_wait_timeout = 1");
        for (int n = 0; n < adds; ++n) {
          const auto id = std::to_string(i) + "/" + std::to_string(n);
          plain.run("BEGIN");
          plain.run("INSERT INTO orders VALUES (1)");
          const Add add{.key = "k", .request_id = n % 2 == 0 ? std::string_view(id) : std::string_view{}};
          const auto added = counter.add(plain.caller(), add);
          if (!added) {
            EXPECT_EQ(added.error().code, ErrorCode::database_busy) << added.error().message;
            EXPECT_TRUE(added.error().transaction_dead) << "the server has rolled it back";
            ++ended;
            plain.run("ROLLBACK");
            continue;
          }
          if (i == 0 && n == 1) std::this_thread::sleep_for(milliseconds(2'500));
          if (plain.run("COMMIT") == "COMMIT") ++acked;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(counter.total("k").value_or_throw().total, acked);
    EXPECT_EQ(Plain(dsn).run("SELECT count(*) FROM orders"), std::to_string(acked)) << "a row and its count go together";
    EXPECT_GT(ended, 0) << "waits ran out";
    EXPECT_TRUE(done(counter.add({.key = "k"})));
    ASSERT_TRUE(done(database.drop("page_views")));
  }
}

}  // namespace
}  // namespace splitcount::faults
