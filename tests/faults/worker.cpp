// A process that counts until it is done or killed. It writes the number of each acknowledged add to its standard
// output, eight bytes each, after the answer and never before.
//
//   add DSN COUNTER FIRST COUNT        adds FIRST .. FIRST+COUNT-1, each in a transaction of its own
//   combine DSN COUNTER FIRST COUNT    the same through a combiner, from four threads
//   storm DSN COUNTER COUNT PROGRESS I counts 1 to the key "hot"; how far it is stands in the file PROGRESS at place I
//   user PATH COUNT                    a program of somebody else: inserts rows into its own table "orders"
//   define DSN COUNTER                 makes it; a program that is killed on its way
//   drop DSN COUNTER
//   crash DSN COUNTER ID NTH           adds ID, and is killed when the NTH statement of the database begins
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <sqlite3.h>

#include <splitcount/splitcount.h>

#include <faults/numbered.h>

namespace splitcount::faults {
namespace {

using Words = std::vector<std::string>;

void acknowledge(std::int64_t number) {
  if (write(STDOUT_FILENO, &number, sizeof number) != sizeof number) _exit(3);
}

int trouble(const Error& error) {
  std::fprintf(stderr, "worker: %s: %s\n", std::string(error_code_name(error.code)).c_str(), error.message.c_str());
  return 1;
}

Counter open_counter(const std::string& dsn, const std::string& name) {
  auto database = Database::open(dsn).value_or_throw();
  return database.counter(name).value_or_throw();
}

int add(const Words& words) {
  auto counter = open_counter(words[1], words[2]);
  const auto first = std::stoll(words[3]);
  for (std::int64_t number = first; number < first + std::stoll(words[4]); ++number) {
    const NumberedAdd numbered(number);
    const auto added = counter.add(numbered.add());
    if (!added) return trouble(added.error());
    acknowledge(number);
  }
  return 0;
}

int define(const Words& words) {
  auto database = Database::open(words[1]).value_or_throw();
  const auto made = database.define(words[2], {.key = "page", .slots = 4, .retries = Retries{true, {}}});
  return made ? 0 : trouble(made.error());
}

int drop(const Words& words) {
  auto database = Database::open(words[1]).value_or_throw();
  const auto dropped = database.drop(words[2]);
  return dropped ? 0 : trouble(dropped.error());
}

int combine(const Words& words) {
  auto database = Database::open(words[1]).value_or_throw();
  const auto counter = database.counter(words[2]).value_or_throw();
  auto combiner = Combiner::open(database).value_or_throw();
  const auto first = std::stoll(words[3]);
  const auto end = first + std::stoll(words[4]);
  constexpr int senders = 4;
  std::atomic<int> failures{0};
  std::vector<std::jthread> threads;
  for (int sender = 0; sender < senders; ++sender) {
    threads.emplace_back([&, sender] {
      for (std::int64_t number = first + sender; number < end; number += senders) {
        const NumberedAdd numbered(number);
        const auto one = numbered.add();
        const auto taken =
            combiner.submit(counter, std::span(&one, 1), std::chrono::steady_clock::now() + std::chrono::minutes(1),
                            [&failures, number](std::span<const Result<Added>> results) {
                              if (results.front()) acknowledge(number);
                              if (!results.front()) failures += trouble(results.front().error());
                            });
        if (!taken) failures += trouble(taken.error());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  { const auto ended = std::move(combiner); }
  return failures == 0 ? 0 : 1;
}

int storm(const Words& words) {
  auto counter = open_counter(words[1], words[2]);
  const int file = open(words[4].c_str(), O_RDWR | O_CLOEXEC);
  void* place = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) return 3;
  auto* progress = static_cast<std::atomic<std::int64_t>*>(place) + std::stoi(words[5]);
  acknowledge(0);
  for (int i = 0; i < std::stoi(words[3]); ++i) {
    const auto added = counter.add({.key = "hot"});
    if (!added) return trouble(added.error());
    ++*progress;
  }
  return 0;
}

int user(const Words& words) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(words[1].c_str(), &handle) != SQLITE_OK) return 3;
  sqlite3_busy_timeout(handle, 60'000);
  for (int i = 0; i < std::stoi(words[2]); ++i) {
    char* message = nullptr;
    if (sqlite3_exec(handle, "INSERT INTO orders (id) VALUES (1)", nullptr, nullptr, &message) != SQLITE_OK) {
      std::fprintf(stderr, "user: %s\n", message);
      return 1;
    }
    acknowledge(i);
  }
  return sqlite3_close(handle) == SQLITE_OK ? 0 : 3;
}

int nth_statement = 0;

int count_statement(unsigned, void*, void*, void*) {
  if (--nth_statement == 0) raise(SIGKILL);
  return 0;
}

int watch(sqlite3* handle, char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(handle, SQLITE_TRACE_STMT, count_statement, nullptr);
}

int crash(const Words& words) {
  nth_statement = std::stoi(words[4]);
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
  auto counter = open_counter(words[1], words[2]);
  const auto added = counter.add({.key = "k", .request_id = words[3]});
  if (!added) return trouble(added.error());
  acknowledge(1);
  return 0;
}

int run(const Words& words) {
  if (words[0] == "add") return add(words);
  if (words[0] == "combine") return combine(words);
  if (words[0] == "storm") return storm(words);
  if (words[0] == "user") return user(words);
  if (words[0] == "define") return define(words);
  if (words[0] == "drop") return drop(words);
  if (words[0] == "crash") return crash(words);
  return 2;
}

}  // namespace
}  // namespace splitcount::faults

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    return words.empty() ? 2 : splitcount::faults::run(words);
  } catch (const splitcount::ErrorException& error) {
    return splitcount::faults::trouble(error.error());
  }
}
