// How fast the combiner is: two threads that submit adds one by one, each with a thousand in flight, against the same
// number of adds in flight times the one-row commits/s of the same file. Prints Markdown tables.
//
//   bench_combiner [ROUNDS] [FOLDER]     5 rounds in a folder of its own under the working directory if left out
//
// The measurements take turns within each round, so that what else the machine does hits all of them alike. The target:
// 0.3 of in-flight adds x one-row commits/s.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <splitcount/combiner.h>

namespace {

using namespace std::chrono_literals;
using splitcount::Add;
using splitcount::Added;
using splitcount::Combiner;
using splitcount::Counter;
using splitcount::Database;
using splitcount::Result;
using Clock = std::chrono::steady_clock;

constexpr int senders = 2;
constexpr std::int64_t in_flight = 1'000;  // of each sender
constexpr auto round_length = 1s;
constexpr double target = 0.3;

/// Measured values of one kind.
struct Series {
  std::vector<double> values;

  [[nodiscard]] double median() const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  [[nodiscard]] double least() const { return *std::min_element(values.begin(), values.end()); }
  [[nodiscard]] double most() const { return *std::max_element(values.begin(), values.end()); }
};

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

/// One sync after a write of 4,096 bytes, in microseconds: the median of many.
double sync_us(const std::filesystem::path& folder) {
  constexpr int syncs = 200;
  const std::string path = folder / "sync";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  const std::vector<char> page(4'096, 'x');
  Series times;
  for (int i = 0; i < syncs; ++i) {
    const auto begun = Clock::now();
    if (::write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size()) || ::fdatasync(file) != 0)
      std::abort();
    times.values.push_back(seconds_since(begun) * 1e6);
  }
  ::close(file);
  return times.median();
}

/// One add, one transaction, one thread.
double one_row_commits_per_s(Counter counter) {
  std::int64_t commits = 0;
  const auto begun = Clock::now();
  for (; Clock::now() - begun < round_length; ++commits) std::move(counter.add({.key = "hot"})).value_or_throw();
  return static_cast<double>(commits) / seconds_since(begun);
}

/// The adds that one sender has on their way. The sender sleeps while they are as many as it may have; the first answer
/// after that wakes it, and no other pays for it.
class Window {
 public:
  /// Waits until there is room for another add.
  void enter() {
    sleep_while([this] { return sent_ - answered_.load() >= in_flight; });
    ++sent_;
  }
  void leave() {
    answered_.fetch_add(1);
    if (!sleeping_.load()) return;
    sleeping_.store(false);
    sleeping_.notify_one();
  }
  void wait_for_all() {
    sleep_while([this] { return answered_.load() < sent_; });
  }

 private:
  template <class Condition>
  void sleep_while(const Condition& condition) {
    while (condition()) {
      sleeping_.store(true);
      if (condition()) sleeping_.wait(true);
      sleeping_.store(false);
    }
  }

  std::int64_t sent_ = 0;
  alignas(64) std::atomic<std::int64_t> answered_{0};
  std::atomic<bool> sleeping_{false};
};

/// What one round of the combiner came to.
struct Combined {
  double adds_per_s = 0;
  double adds_per_group = 0;
};

/// `keys`: 0 for the one hot key, else as many, drawn at random.
void send(Combiner& combiner, const Counter& counter, std::uint64_t keys, std::uint64_t seed, Clock::time_point end) {
  std::minstd_rand generator(static_cast<std::minstd_rand::result_type>(seed));
  std::uniform_int_distribution<std::uint64_t> draw(0, keys == 0 ? 0 : keys - 1);
  Window window;
  std::string key = "hot";
  const auto deadline = end + 1min;
  for (std::int64_t i = 0; i % 64 != 0 || Clock::now() < end; ++i) {
    if (keys > 0) key = fmt::format("/page/{:07}", draw(generator));
    const Add add{.key = key};
    window.enter();
    combiner
        .submit(counter, std::span(&add, 1), deadline,
                [&window](std::span<const Result<Added>> results) {
                  if (!results.front()) std::abort();
                  window.leave();
                })
        .value_or_throw();
  }
  window.wait_for_all();
}

Combined combine(Database& database, const Counter& counter, std::uint64_t keys) {
  auto combiner = Combiner::open(database).value_or_throw();
  std::vector<std::thread> threads;
  const auto begun = Clock::now();
  for (int i = 0; i < senders; ++i) {
    threads.emplace_back(
        [&, i] { send(combiner, counter, keys, static_cast<std::uint64_t>(i) + 1, begun + round_length); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = seconds_since(begun);
  const Combiner::Counts counts = combiner.counts();
  return {static_cast<double>(counts.adds) / seconds,
          static_cast<double>(counts.adds) / static_cast<double>(counts.groups)};
}

/// A database with one counter that has that many keys already.
struct Store {
  Database database;
  Counter counter;
  double bytes_per_key;
};

Store make_store(const std::filesystem::path& path, std::uint64_t keys) {
  auto database = Database::open(path.string()).value_or_throw();
  auto counter = database.define("page_views", {.key = "page"}).value_or_throw();
  const auto empty = database.status().value_or_throw().size_bytes;
  constexpr std::uint64_t in_one_call = 50'000;
  for (std::uint64_t first = 0; first < keys; first += in_one_call) {
    std::vector<std::string> names;
    std::vector<Add> adds;
    for (std::uint64_t i = first; i < std::min(keys, first + in_one_call); ++i)
      names.push_back(fmt::format("/page/{:07}", i));
    for (const std::string& name : names) adds.push_back({.key = name});
    static_cast<void>(counter.add(adds).value_or_throw());
  }
  const auto full = database.status().value_or_throw().size_bytes;
  return {database, counter, keys == 0 ? 0 : static_cast<double>(full - empty) / static_cast<double>(keys)};
}

void print_row(std::string_view what, const Series& series, std::string_view unit, int digits = 0) {
  fmt::print("| {} | {:.{}f} {} | {:.{}f} to {:.{}f} |\n", what, series.median(), digits, unit, series.least(), digits,
             series.most(), digits);
}

void run(int rounds, const std::filesystem::path& folder) {
  Store hot = make_store(folder / "hot.db", 0);
  Store thousand = make_store(folder / "thousand.db", 1'000);
  Store million = make_store(folder / "million.db", 1'000'000);
  Series syncs, one_row, combined, group, ratio, of_thousand, group_of_thousand, of_million, group_of_million;
  for (int round = 0; round < rounds; ++round) {
    syncs.values.push_back(sync_us(folder));
    one_row.values.push_back(one_row_commits_per_s(hot.counter));
    const Combined of_hot = combine(hot.database, hot.counter, 0);
    combined.values.push_back(of_hot.adds_per_s);
    group.values.push_back(of_hot.adds_per_group);
    ratio.values.push_back(of_hot.adds_per_s / (senders * in_flight * one_row.values.back()));
    const Combined a = combine(thousand.database, thousand.counter, 1'000);
    of_thousand.values.push_back(a.adds_per_s);
    group_of_thousand.values.push_back(a.adds_per_group);
    const Combined b = combine(million.database, million.counter, 1'000'000);
    of_million.values.push_back(b.adds_per_s);
    group_of_million.values.push_back(b.adds_per_group);
  }
  fmt::print(
      "{} threads, {} adds in flight each, submitted one by one; SQLite, WAL, synchronous FULL; {} rounds of {} s\n\n",
      senders, in_flight, rounds, round_length.count());
  fmt::print("| one hot key | median | least to most |\n|---|---|---|\n");
  print_row("a sync of 4,096 bytes", syncs, "us");
  print_row("one add, one commit, one thread", one_row, "commits/s");
  print_row("combined", combined, "adds/s");
  print_row("adds in a group", group, "adds");
  print_row(fmt::format("ratio to {} x commits/s (target {})", senders * in_flight, target), ratio, "", 2);
  fmt::print("\n| keys at random | adds/s | least to most | adds in a group | bytes a key |\n|---|---|---|---|---|\n");
  const auto print_keys = [](std::string_view keys, const Series& adds, const Series& groups, double bytes) {
    fmt::print("| {} | {:.0f} | {:.0f} to {:.0f} | {:.0f} | {:.1f} |\n", keys, adds.median(), adds.least(), adds.most(),
               groups.median(), bytes);
  };
  print_keys("1,000", of_thousand, group_of_thousand, thousand.bytes_per_key);
  print_keys("1,000,000", of_million, group_of_million, million.bytes_per_key);
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
  std::string pattern = (std::filesystem::path(count > 2 ? arguments[2] : ".") / "bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::perror("bench_combiner: a folder for the databases");
    return 1;
  }
  run(rounds, pattern);
  std::filesystem::remove_all(pattern);
  return 0;
}
