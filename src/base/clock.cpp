#include <base/clock.h>

#include <algorithm>

#include <fmt/format.h>

namespace splitcount {

std::string format_instant(Instant instant) {
  namespace chrono = std::chrono;
  // Four digits of year are all that the format has; a clock that is this wrong is shown at the edge.
  constexpr Instant first = chrono::sys_days{chrono::year{0} / 1 / 1};
  constexpr Instant last = chrono::sys_days{chrono::year{10'000} / 1 / 1} - chrono::microseconds{1};
  const auto cut = chrono::floor<chrono::milliseconds>(std::clamp(instant, first, last));
  const auto day = chrono::floor<chrono::days>(cut);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss time{cut - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

Instant now_utc() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

std::chrono::milliseconds time_left(Deadline deadline) {
  const auto now = Deadline::clock::now();
  if (deadline <= now) return std::chrono::milliseconds{0};
  return std::chrono::floor<std::chrono::milliseconds>(deadline - now);
}

Deadline deadline_in(std::chrono::milliseconds wait) {
  const auto now = Deadline::clock::now();
  if (wait <= std::chrono::milliseconds{0}) return now;
  // milliseconds::max() is more nanoseconds than the clock can hold.
  if (wait >= std::chrono::floor<std::chrono::milliseconds>(Deadline::max() - now)) return Deadline::max();
  return now + wait;
}

}  // namespace splitcount
