#include <engine/sqlite/busy.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <sqlite3.h>

namespace splitcount::engine::sqlite {
namespace {

constexpr int wait_us_min = 200;
constexpr int wait_us_step = 100;
constexpr int wait_us_max = 1'000;  // the lock is free only briefly between two commits of a busy writer

extern "C" int splitcount_sqlite_busy(void* wait, int tries) {
  return static_cast<BusyWait*>(wait)->wait(tries) ? 1 : 0;
}

}  // namespace

void BusyWait::attach(sqlite3* database) noexcept { sqlite3_busy_handler(database, splitcount_sqlite_busy, this); }

bool BusyWait::wait(int tries) noexcept {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - Deadline::clock::now());
  if (left.count() <= 0) return false;
  const int most = std::min(wait_us_max, wait_us_min + wait_us_step * (1 + std::clamp(tries, 0, wait_us_max)));
  const std::chrono::microseconds pause(std::uniform_int_distribution<int>(wait_us_min, most)(random_));
  std::this_thread::sleep_for(std::min(pause, left));
  return true;
}

}  // namespace splitcount::engine::sqlite
