// Processes that are killed while they count: never fewer than acknowledged, and exact once every id is sent again.
#include <csignal>
#include <random>
#include <thread>

#include <contract/contract.h>
#include <faults/child.h>
#include <faults/numbered.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

class Kills : public testing::Test {
 protected:
  Kills() : stand_(make_sqlite_stand()), database_(Database::open(stand_->dsn()).value_or_throw()) {
    counter_ = std::make_unique<Counter>(
        database_.define("page_views", {.key = "page", .slots = 3, .pick = Pick::random, .retries = Retries{true, {}}})
            .value_or_throw());
  }
  std::int64_t total() {
    const auto read = counter_->total();
    EXPECT_TRUE(done(read));
    return read ? read->total : -1;
  }
  std::int64_t total_of_key(std::int64_t key) {
    const auto read = counter_->total(numbered_key(key));
    EXPECT_TRUE(done(read));
    return read ? read->total : -1;
  }
  /// Sends every id from `first` on again until it is answered; then the total must be that of the distinct ids.
  void repeat_and_check(std::int64_t first, std::int64_t end) {
    for (std::int64_t number = first; number < end; ++number) {
      ASSERT_TRUE(done(counter_->add(NumberedAdd(number).add())));
      expected_[number % numbered_keys] += numbered_amount(number);
    }
    for (std::int64_t key = 0; key < numbered_keys; ++key) EXPECT_EQ(total_of_key(key), expected_[key]) << key;
  }
  [[nodiscard]] std::int64_t expected() const {
    std::int64_t sum = 0;
    for (const auto one : expected_) sum += one;
    return sum;
  }
  /// Starts the workers on ranges of their own, kills them after a random number of answers, checks, and repeats.
  void kill_once(const std::string& role, int workers, std::int64_t count, std::mt19937_64& random) {
    const auto before = expected();
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < workers; ++i) {
      children.push_back(std::make_unique<Child>(std::vector<std::string>{
          role, stand_->dsn(), "page_views", std::to_string(next_ + i * count), std::to_string(count)}));
    }
    std::int64_t acknowledged = 0;
    const int answers = random_between(random, 0, static_cast<int>(count) * 3 / 4);
    for (int i = 0; i < answers; ++i) {
      if (const auto number = children.front()->next()) acknowledged += numbered_amount(*number);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_between(random, 0, 3'000)));
    for (auto& child : children) child->kill();
    std::int64_t sent = 0;
    for (auto& child : children) {
      for (const auto number : child->rest()) acknowledged += numbered_amount(number);
      child->wait();
    }
    const auto end = next_ + workers * count;
    for (auto number = next_; number < end; ++number) sent += numbered_amount(number);
    EXPECT_GE(total(), before + acknowledged);
    EXPECT_LE(total(), before + sent);
    repeat_and_check(next_, end);
    next_ = end;
  }

  std::unique_ptr<Stand> stand_;
  Database database_;
  std::unique_ptr<Counter> counter_;
  std::int64_t next_ = 0;
  std::int64_t expected_[numbered_keys] = {};
};

TEST_F(Kills, OfAProcessThatCombinesLoseNothingAcknowledged) {
  std::mt19937_64 random(seed());
  const int kills = scale(10, 100, 100);
  for (int i = 0; i < kills && !HasFailure(); ++i) kill_once("combine", 1, 200, random);
  EXPECT_EQ(stand_->damage(), "");
}

TEST_F(Kills, OfEightProcessesThatAddLoseNothingAcknowledged) {
  std::mt19937_64 random(seed());
  const int kills = scale(3, 12, 100);
  for (int i = 0; i < kills && !HasFailure(); ++i) kill_once("add", 8, 25, random);
  EXPECT_EQ(stand_->damage(), "");
}

TEST_F(Kills, BetweenAnyTwoStatementsOfAnAddLeaveAllOfItOrNothing) {
  std::int64_t counted = 0;
  bool was_killed = true;
  int nth = 1;
  for (; was_killed; ++nth) {
    ASSERT_LT(nth, 10'000) << "an add has an end";
    const std::string id = "crash" + std::to_string(nth);
    Child child({"crash", stand_->dsn(), "page_views", id, std::to_string(nth)});
    const bool acknowledged = child.next().has_value();
    const int ended = child.wait();
    was_killed = ended == -SIGKILL;
    if (!was_killed) {
      ASSERT_EQ(ended, 0);
    }
    const auto now = counter_->total("k").value_or_throw().total;
    ASSERT_GE(now, counted + (acknowledged ? 1 : 0));
    ASSERT_LE(now, counted + 1);
    const Add again{.key = "k", .request_id = id};
    const auto first = counter_->add(again);
    ASSERT_TRUE(done(first));
    EXPECT_EQ(first->replay, now == counted + 1) << "the id and the amount are there together";
    const auto second = counter_->add(again);
    ASSERT_TRUE(done(second));
    EXPECT_TRUE(second->replay);
    EXPECT_EQ(counter_->total("k").value_or_throw().total, ++counted);
  }
  EXPECT_GT(nth, 3) << "the fault was there";
  EXPECT_EQ(stand_->damage(), "");
}

}  // namespace
}  // namespace splitcount::faults
