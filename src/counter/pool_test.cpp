#include <counter/pool.h>

#include <thread>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/test_ground.h>

namespace splitcount::counter {
namespace {

class ConnectionPool : public Ground {
 protected:
  void SetUp() override { define("visits", {}); }
  std::shared_ptr<FaultyEngine> engine() {
    return std::make_shared<FaultyEngine>(faults_, engine::open(path()).value_or_throw());
  }
  std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();  // without what define connected
};

TEST_F(ConnectionPool, UsesOneConnectionAgainAndAgain) {
  Pool pool(engine());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(done(pool.acquire(soon())));
  EXPECT_EQ(faults_->connected(), 1);
}

TEST_F(ConnectionPool, IsBusyAtItsBoundUntilOneComesBack) {
  Pool pool(engine());
  std::vector<Lease> leases;
  for (int i = 0; i < limits::connections_max; ++i) leases.push_back(pool.acquire(soon()).value_or_throw());
  const auto refusal = pool.acquire(deadline_in(std::chrono::milliseconds(10)));
  EXPECT_TRUE(refused(refusal, ErrorCode::database_busy));
  EXPECT_TRUE(refusal.error().retryable);
  std::thread waiter([&pool] { EXPECT_TRUE(done(pool.acquire(deadline_in(std::chrono::minutes(1))))); });
  leases.pop_back();
  waiter.join();
  EXPECT_EQ(faults_->connected(), limits::connections_max);
}

TEST_F(ConnectionPool, KeepsOnlyAFewThatAreIdle) {
  Pool pool(engine());
  for (int round = 1; round <= 2; ++round) {
    std::vector<Lease> leases;
    for (int i = 0; i < 20; ++i) leases.push_back(pool.acquire(soon()).value_or_throw());
  }
  EXPECT_EQ(faults_->connected(), 20 + (20 - limits::connections_idle_max));
}

TEST_F(ConnectionPool, ClosesAConnectionThatBroke) {
  Pool pool(engine());
  faults_->at_begins(1, ErrorCode::connection_lost);
  {
    auto lease = pool.acquire(soon()).value_or_throw();
    EXPECT_TRUE(refused(lease->begin(soon()), ErrorCode::connection_lost));
  }
  EXPECT_TRUE(done(pool.acquire(soon()).value_or_throw()->begin(soon())));
  EXPECT_EQ(faults_->connected(), 2);
}

TEST_F(ConnectionPool, LosesNoPlaceToConnectionsThatCouldNotBeMade) {
  Pool pool(engine());
  faults_->at_connects(2 * limits::connections_max, ErrorCode::database_unavailable);
  for (int i = 0; i < 2 * limits::connections_max; ++i) {
    EXPECT_TRUE(refused(pool.acquire(soon()), ErrorCode::database_unavailable));
  }
  EXPECT_TRUE(done(pool.acquire(soon())));
}

}  // namespace
}  // namespace splitcount::counter
