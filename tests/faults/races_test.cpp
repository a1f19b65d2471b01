// Many sessions and processes at the same number at once.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include <contract/contract.h>
#include <faults/child.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

class Races : public Contract {
 protected:
  /// Runs the same in many threads, each with a Database and a plain SQL session of its own.
  template <class Work>
  void in_threads(int count, Work work) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this, i, &work] {
        auto database = another();
        auto session = stand_->session();
        work(i, database, *session);
      });
    }
    for (auto& thread : threads) thread.join();
  }
};
SPLITCOUNT_ON_EVERY_ENGINE(Races);

TEST_P(Races, FirstAddsOfANewKeyByManySessionsAtOneInstantAllCount) {
  make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = Retries{true, {}}});
  constexpr int sessions = 32;
  const int keys = scale(20, 120, 1'000);
  std::barrier together(sessions);
  in_threads(sessions, [&](int i, Database& database, Session& session) {
    auto counter = database.counter("page_views").value_or_throw();
    const auto rule = counter.rule();
    for (int key = 0; key < keys; ++key) {
      const std::string name = "new" + std::to_string(key);
      const std::string id = name + "/" + std::to_string(i);
      const Add add{.key = name, .request_id = i % 2 == 0 ? std::string_view(id) : std::string_view{}};
      together.arrive_and_wait();
      if (i % 4 == 3) {
        EXPECT_TRUE(ran(session.add("page_views", rule, add)));
      } else {
        EXPECT_TRUE(done(counter.add(add)));
      }
    }
  });
  const auto counter = database_->counter("page_views").value_or_throw();
  for (int key = 0; key < keys; ++key) EXPECT_EQ(total(counter, "new" + std::to_string(key)), sessions) << key;
  EXPECT_EQ(counter.keys().value_or_throw(), keys);
}

TEST_P(Races, RandomPicksByManySessionsChangeExactlyOneRowEach) {
  auto counter = make("prizes_won", {.slots = 11, .pick = Pick::random});
  constexpr int sessions = 64;
  const int adds = scale(12, 78, 157);  // the last: 10,000 in all
  in_threads(sessions, [&](int i, Database& database, Session& session) {
    auto mine = database.counter("prizes_won").value_or_throw();
    for (int n = 0; n < adds; ++n) {
      if (i % 2 == 0) {
        EXPECT_TRUE(done(mine.add(Add{})));
      } else {
        EXPECT_TRUE(ran(session.add_by_default("prizes_won", mine.rule(), "")));
      }
    }
  });
  const auto rows = slots(counter);
  EXPECT_EQ(rows.size(), 11U);
  for (const auto& slot : rows) EXPECT_GT(slot.n, 0) << slot.slot;
  EXPECT_EQ(total(counter), sessions * adds);
}

TEST_P(Races, GroupsOfTheSameKeysInAnyOrderNeitherDeadlockNorLoseAnAdd) {
  auto counter = make("page_views", {.key = "page", .slots = 2, .pick = Pick::random});
  constexpr int keys_count = 200;
  const int rounds = scale(10, 60, 10'000);
  std::vector<std::string> keys;
  for (int i = 0; i < keys_count; ++i) keys.push_back("k" + std::to_string(i));
  const auto chosen = seed();
  in_threads(4, [&](int i, Database& database, Session&) {
    auto mine = database.counter("page_views").value_or_throw();
    std::vector<Add> adds;
    for (const auto& key : keys) adds.push_back({.key = key});
    if (i % 2 == 1) std::reverse(adds.begin(), adds.end());
    std::mt19937_64 random(chosen + static_cast<std::uint64_t>(i));
    for (int round = 0; round < rounds; ++round) {
      if (i >= 2) std::shuffle(adds.begin(), adds.end(), random);
      EXPECT_TRUE(done(mine.add(adds)));
    }
  });
  for (const auto& one : counter.top(keys_count).value_or_throw()) EXPECT_EQ(one.total, 4 * rounds);
  EXPECT_EQ(total(counter), 4 * rounds * keys_count);
}

TEST_P(Races, ATransactionThatStaysOpenHoldsUpNobodyElseOfItsKey) {
  if (traits().one_writer) return;
  for (const auto pick : {Pick::session, Pick::spread, Pick::free}) {
    const std::string name = pick == Pick::session ? "by_session" : pick == Pick::spread ? "by_spread" : "by_free";
    auto counter = make(name, {.key = "grp", .slots = 4, .pick = pick}, {"kept", "undone"});
    for (const bool keeps : {true, false}) {
      const std::string key = keeps ? "kept" : "undone";
      auto first = stand_->session();
      ASSERT_TRUE(ran(first->begin()));
      ASSERT_TRUE(done(counter.add(first->caller(), Add{.key = key})));
      ASSERT_TRUE(ran(first->add(name, counter.rule(), {.key = key})));
      auto second = stand_->session();
      ASSERT_TRUE(ran(second->begin()));
      ASSERT_TRUE(done(counter.add(second->caller(), Add{.key = key, .amount = 10}))) << "the first is still open";
      ASSERT_TRUE(ran(second->commit()));
      ASSERT_TRUE(ran(second->add(name, counter.rule(), {.key = key, .amount = 10})));
      ASSERT_TRUE(done(counter.add({.key = key, .amount = 10})));
      EXPECT_EQ(total(counter, key), 30);
      ASSERT_TRUE(ran(keeps ? first->commit() : first->rollback()));
      EXPECT_EQ(total(counter, key), keeps ? 32 : 30);
    }
  }
}

/// Counters of progress that are shared with the workers.
class Progress {
 public:
  explicit Progress(std::string path) : path_(std::move(path)) {
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) throw std::runtime_error("no file for the progress");
    place_ = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (place_ == MAP_FAILED) throw std::runtime_error("no memory for the progress");
  }
  ~Progress() { munmap(place_, 4096); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t of(int i) const { return static_cast<const std::atomic<std::int64_t>*>(place_)[i].load(); }

 private:
  std::string path_;
  void* place_ = nullptr;
};

/// Eight processes beside a program of the user's. When the first has finished, each of the others has counted at
/// least `least`.
void expect_exact_storm(const std::string& parent, int adds, int least) {
  const auto stand = make_sqlite_stand(parent);
  auto database = Database::open(stand->dsn()).value_or_throw();
  auto counter = database.define("page_views", {.key = "page"}).value_or_throw();
  ASSERT_TRUE(ran(stand->session()->run("CREATE TABLE orders (id integer)")));
  const std::string path = stand->dsn().substr(sizeof "sqlite:" - 1);
  constexpr int processes = 8;
  const int orders = adds / 10;
  const Progress progress(path + "-progress");
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(std::make_unique<Child>(std::vector<std::string>{
        "storm", stand->dsn(), "page_views", std::to_string(adds), progress.path(), std::to_string(i)}));
  }
  for (auto& child : children) ASSERT_TRUE(child->next().has_value()) << "it has opened the database";
  Child user({"user", path, std::to_string(orders)});
  bool first_is_done = false;
  std::int64_t slowest_then = 0;
  while (!first_is_done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::int64_t slowest = adds;
    for (int i = 0; i < processes; ++i) {
      slowest = std::min(slowest, progress.of(i));
      first_is_done = first_is_done || progress.of(i) == adds;
    }
    slowest_then = slowest;
  }
  std::cout << "when the first had finished, the slowest had counted " << slowest_then << " of " << adds << "\n";
  EXPECT_GE(slowest_then, least) << "when the first had finished, another had hardly begun";
  for (auto& child : children) EXPECT_EQ(child->wait(), 0) << "a busy error reached a caller";
  EXPECT_EQ(user.wait(), 0);
  EXPECT_EQ(counter.total("hot").value_or_throw().total, processes * adds);
  EXPECT_EQ(*stand->session()->rows("SELECT count(*) FROM orders"), (Rows{{std::to_string(orders)}}));
  EXPECT_EQ(stand->damage(), "");
}

TEST(RacesOfProcesses, EightCountExactlyBesideAProgramOfTheUsersAndNobodyStarves) {
  expect_exact_storm({}, scale(400, 10'000, 10'000), scale(10, 500, 500));
}

TEST(RacesOfProcesses, EightCountExactlyOnADiskWhereEachCommitTakesItsTime) {
  expect_exact_storm(std::filesystem::temp_directory_path().string(), scale(120, 500, 2'000), scale(1, 25, 100));
}

}  // namespace
}  // namespace splitcount::faults
