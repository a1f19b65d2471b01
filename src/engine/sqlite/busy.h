// Waiting for another session's lock.
#pragma once

#include <cstdint>
#include <random>

#include <splitcount/add.h>

struct sqlite3;

namespace splitcount::engine::sqlite {

/// A busy handler bounded by a deadline: short pauses with jitter, shorter the longer the wait. SQLite's own backs off to
/// 100 ms and more, so that whoever has waited longest looks least often and starves (measured with eight processes that
/// write without a pause: 24 times busy after 5 s; with these pauses: never).
class BusyWait {
 public:
  /// Puts it onto a handle. The object must stay where it is for as long as the handle is open.
  void attach(sqlite3* database) noexcept;
  void set_deadline(Deadline deadline) noexcept { deadline_ = deadline; }
  /// Sleeps before another try; `tries`: how many there were. False: the deadline has passed.
  [[nodiscard]] bool wait(int tries) noexcept;
  /// Before a transaction. The lock goes to whoever looks first, and that is the one who has just let go of it; so where
  /// others were met lately, a writer that has had its turn lets them look first.
  void let_others_look() noexcept;
  /// How often a lock was met that somebody else held.
  [[nodiscard]] std::int64_t waits() const noexcept { return waits_; }

 private:
  Deadline deadline_{};
  Deadline wait_began_{};
  Deadline turn_began_{};
  Deadline others_met_{};
  std::int64_t waits_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace splitcount::engine::sqlite
