// The relay itself: each fault happens where it says, in both of PostgreSQL's protocols and in MariaDB's, and is counted.
#include <faults/relayed.h>

namespace splitcount::faults {
namespace {

using std::chrono::milliseconds;

class RelayItself : public RelayedGround<testing::Test> {
 protected:
  RelayItself() { value("CREATE TABLE orders (id integer)"); }
  std::string orders() { return value("SELECT count(*) FROM orders"); }
};

TEST_F(RelayItself, PassesOnWhatItIsNotToBreak) {
  auto plain = plain_through();
  EXPECT_EQ(plain.run("SELECT repeat('x', 1000000)").size(), 1'000'000U);
  EXPECT_EQ(plain.run("SELECT length($1)", std::string(1'000'000, 'y')), "1000000");
  EXPECT_EQ(plain.run("SELECT 1/0"), "22012");
  EXPECT_EQ(plain.run("BEGIN ISOLATION LEVEL READ COMMITTED; INSERT INTO orders VALUES (1); COMMIT"), "COMMIT");
  EXPECT_EQ(orders(), "1");
  EXPECT_EQ(relay_.fired(), 0);
  EXPECT_EQ(relay_.connections(), 1);
}

TEST_F(RelayItself, CutsBeforeTheStatementReachesTheServer) {
  for (const bool reset : {false, true}) {
    auto plain = plain_through();
    relay_.plan({.action = Action::cut_before, .reset = reset});
    EXPECT_EQ(plain.run("BEGIN ISOLATION LEVEL READ COMMITTED"), "BEGIN") << "which is no COMMIT";
    EXPECT_EQ(plain.run("INSERT INTO orders VALUES (1)"), "INSERT 0 1");
    EXPECT_EQ(relay_.fired(), reset ? 1 : 0);
    EXPECT_EQ(plain.run("commit"), "broken");
    EXPECT_FALSE(plain.is_connected());
  }
  EXPECT_EQ(orders(), "0");
  EXPECT_EQ(relay_.fired(), 2);
}

TEST_F(RelayItself, CutsAfterTheStatementTookEffect) {
  for (const bool reset : {false, true}) {
    auto plain = plain_through();
    relay_.plan({.action = Action::cut_after, .reset = reset});
    plain.run("BEGIN");
    plain.run("INSERT INTO orders VALUES (1)");
    EXPECT_EQ(plain.run("COMMIT"), "broken");
    EXPECT_EQ(orders(), reset ? "2" : "1") << "it is there when the client hears of the cut";
  }
  EXPECT_EQ(relay_.fired(), 2);
}

TEST_F(RelayItself, FindsStatementsOfTheExtendedProtocolByTheirText) {
  auto plain = plain_through();
  relay_.plan({.action = Action::cut_after, .statement = "INSERT INTO orders", .skip = 1});
  EXPECT_EQ(plain.run("INSERT INTO orders SELECT $1::integer", "1"), "INSERT 0 1");
  EXPECT_EQ(plain.run("SELECT $1", "INSERT INTO orders"), "INSERT INTO orders") << "a value is no statement";
  EXPECT_EQ(plain.run("INSERT INTO orders SELECT $1::integer", "2"), "broken");
  EXPECT_EQ(orders(), "2");
  auto second = plain_through();
  relay_.plan({.action = Action::cut_before, .statement = "INSERT INTO orders"});
  EXPECT_EQ(second.run("INSERT INTO orders SELECT $1::integer", "3"), "broken");
  EXPECT_EQ(orders(), "2");
  EXPECT_EQ(relay_.fired(), 2);
}

TEST_F(RelayItself, WaitsForOneThatTakesEffectBeforeItCutsAfterIt) {
  auto plain = plain_through();
  relay_.plan({.action = Action::cut_after});
  plain.run("BEGIN");
  plain.run("SELECT 1/0");
  EXPECT_EQ(plain.run("COMMIT"), "ROLLBACK") << "a transaction that failed is not committed";
  EXPECT_EQ(relay_.fired(), 0);
  plain.run("BEGIN");
  EXPECT_EQ(plain.run("COMMIT"), "broken");
  EXPECT_EQ(relay_.fired(), 1);
}

TEST_F(RelayItself, DeliversLate) {
  auto plain = plain_through();
  relay_.plan({.action = Action::deliver_late, .delay = milliseconds(200)});
  plain.run("BEGIN");
  plain.run("INSERT INTO orders VALUES (1)");
  EXPECT_EQ(plain.run("COMMIT"), "broken");
  EXPECT_EQ(orders(), "0");
  while (relay_.delivered() == 0) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(orders(), "1");
}

TEST_F(RelayItself, AbandonsAndLeavesTheServerWaiting) {
  auto plain = plain_through();
  relay_.plan({.action = Action::abandon, .delay = milliseconds(300)});
  plain.run("BEGIN");
  plain.run("INSERT INTO orders VALUES (1)");
  EXPECT_EQ(plain.run("COMMIT"), "broken");
  const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'";
  EXPECT_EQ(value(waiting), "1");
  while (value(waiting) != "0") std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(orders(), "0");
}

TEST_F(RelayItself, HoldsAStatementOrItsAnswerForTheDelay) {
  const auto runs_for = [](Plain& plain) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(plain.run("INSERT INTO orders VALUES (1)"), "INSERT 0 1");
    return std::chrono::steady_clock::now() - start;
  };
  auto plain = plain_through();
  relay_.plan({.action = Action::hold_before, .statement = "INSERT", .delay = milliseconds(100)});
  EXPECT_GE(runs_for(plain), milliseconds(100));
  relay_.plan({.action = Action::hold_after, .statement = "INSERT", .delay = milliseconds(100)});
  EXPECT_GE(runs_for(plain), milliseconds(100));
  EXPECT_EQ(relay_.fired(), 2);
}

TEST_F(RelayItself, CutsAllConnectionsAndTakesNewOnes) {
  auto first = plain_through();
  auto second = plain_through();
  relay_.cut_all();
  EXPECT_EQ(first.run("SELECT 1"), "broken");
  EXPECT_EQ(second.run("SELECT 1"), "broken");
  auto third = plain_through();
  EXPECT_EQ(third.run("SELECT 1"), "1");
}

TEST_F(RelayItself, IsPassedByClientsThatAskForEncryptionFirst) {
  Plain plain(dsn_through() + " sslmode=prefer");
  relay_.plan({.action = Action::cut_before, .statement = "SELECT 2"});
  EXPECT_EQ(plain.run("SELECT 1"), "1");
  EXPECT_EQ(plain.run("SELECT 2"), "broken");
}

class RelayOfMariadb : public RelayedGround<testing::TestWithParam<Server>> {
 protected:
  RelayOfMariadb() : RelayedGround(GetParam()) { value("CREATE TABLE orders (id integer)"); }
  std::string orders() { return value("SELECT count(*) FROM orders"); }
};
INSTANTIATE_TEST_SUITE_P(On, RelayOfMariadb, testing::Values(Server::mariadb), [](const auto&) { return "mariadb"; });

TEST_P(RelayOfMariadb, PassesOnWhatItIsNotToBreak) {
  auto plain = plain_through();
  EXPECT_EQ(plain.run("SELECT repeat('x', 1000000)").size(), 1'000'000U);
  EXPECT_EQ(plain.run("SELECT length('" + std::string(1'000'000, 'y') + "')"), "1000000");
  EXPECT_EQ(plain.run("SELECT nothing"), "1054");
  EXPECT_EQ(plain.run("BEGIN; INSERT INTO orders VALUES (1); SELECT 7; COMMIT"), "7");
  EXPECT_EQ(orders(), "1");
  EXPECT_EQ(relay_.fired(), 0);
  EXPECT_EQ(relay_.connections(), 1);
}

TEST_P(RelayOfMariadb, CutsBeforeAStatementAndAfterAllOfATextTookEffect) {
  for (const auto action : {Action::cut_before, Action::cut_after}) {
    auto plain = plain_through();
    relay_.plan({.action = action, .reset = action == Action::cut_after});
    plain.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN; INSERT INTO orders VALUES (1)");
    EXPECT_EQ(plain.run("commit"), "broken");
    EXPECT_FALSE(plain.is_connected());
    EXPECT_EQ(orders(), action == Action::cut_before ? "0" : "1");
  }
  auto plain = plain_through();
  relay_.plan({.action = Action::cut_after, .statement = "SELECT 8"});
  EXPECT_EQ(plain.run("SELECT id FROM orders; SELECT 8; INSERT INTO orders VALUES (2); SELECT 9"), "broken");
  EXPECT_EQ(orders(), "2") << "the whole text had run";
  EXPECT_EQ(relay_.fired(), 3);
}

TEST_P(RelayOfMariadb, WaitsForOneThatTakesEffectBeforeItCutsAfterIt) {
  auto plain = plain_through();
  relay_.plan({.action = Action::cut_after, .statement = "orders"});
  EXPECT_EQ(plain.run("INSERT INTO orders VALUES (1, 2)"), "1136");
  EXPECT_EQ(relay_.fired(), 0);
  EXPECT_EQ(plain.run("INSERT INTO orders VALUES (1)"), "broken");
  EXPECT_EQ(relay_.fired(), 1);
  EXPECT_EQ(orders(), "1");
}

}  // namespace
}  // namespace splitcount::faults
