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

// Others are looked out for as long after one was met; a turn among others lasts so long, and then all of them have looked.
constexpr std::chrono::seconds others_remembered{1};
constexpr std::chrono::milliseconds turn_max{5};
constexpr std::chrono::microseconds others_look{wait_us_max + 200};

extern "C" int splitcount_sqlite_busy(void* wait, int tries) {
  return static_cast<BusyWait*>(wait)->wait(tries) ? 1 : 0;
}

}  // namespace

void BusyWait::attach(sqlite3* database) noexcept { sqlite3_busy_handler(database, splitcount_sqlite_busy, this); }

bool BusyWait::wait(int tries) noexcept {
  const auto now = Deadline::clock::now();
  others_met_ = turn_began_ = now;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - now);
  if (left.count() <= 0) return false;
  const int most = std::min(wait_us_max, wait_us_min + wait_us_step * (1 + std::clamp(tries, 0, wait_us_max)));
  const std::chrono::microseconds pause(std::uniform_int_distribution<int>(wait_us_min, most)(random_));
  std::this_thread::sleep_for(std::min(pause, left));
  return true;
}

void BusyWait::let_others_look() noexcept {
  const auto now = Deadline::clock::now();
  if (now - others_met_ > others_remembered || now - turn_began_ < turn_max) return;
  std::this_thread::sleep_for(std::min<Deadline::duration>(others_look, std::max(deadline_ - now, Deadline::duration{})));
  turn_began_ = Deadline::clock::now();
}

}  // namespace splitcount::engine::sqlite
