// Time as it is printed and compared.
#pragma once

#include <string>

#include <splitcount/add.h>

namespace splitcount {

/// "2026-01-31T10:15:30.123Z": UTC, cut (not rounded) to milliseconds.
[[nodiscard]] std::string format_instant(Instant instant);

/// This machine's clock. Totals carry the database's clock instead.
[[nodiscard]] Instant now_utc();

/// What is left until the deadline, never negative.
[[nodiscard]] std::chrono::milliseconds time_left(Deadline deadline);

/// From now on, in milliseconds.
[[nodiscard]] Deadline deadline_in(std::chrono::milliseconds wait);

}  // namespace splitcount
