#include <engine/sqlite/busy.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <sqlite3.h>

namespace splitcount::engine::sqlite {
namespace {

// The lock is free only briefly between two commits of a busy writer. Whoever has waited longer looks more often.
constexpr std::chrono::microseconds pause_max{1'000};
constexpr std::chrono::microseconds pause_min{200};
constexpr int pauses_per_wait = 50;  // a pause is so much of the time waited less than pause_max

// Others are looked out for as long after one was met; a turn among others lasts so long, and then all of them have looked.
constexpr std::chrono::seconds others_remembered{1};
constexpr std::chrono::milliseconds turn_max{2};
constexpr std::chrono::microseconds others_look{1'200};

extern "C" int splitcount_sqlite_busy(void* wait, int tries) {
  return static_cast<BusyWait*>(wait)->wait(tries) ? 1 : 0;
}

}  // namespace

void BusyWait::attach(sqlite3* database) noexcept { sqlite3_busy_handler(database, splitcount_sqlite_busy, this); }

bool BusyWait::wait(int tries) noexcept {
  const auto now = Deadline::clock::now();
  others_met_ = turn_began_ = now;
  if (tries == 0) {
    wait_began_ = now;
    ++waits_;
  }
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - now);
  if (left.count() <= 0) return false;
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - wait_began_);
  const auto most = std::max(pause_min, pause_max - waited / pauses_per_wait);
  const std::chrono::microseconds pause(std::uniform_int_distribution<std::int64_t>(most.count() / 2, most.count())(random_));
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
