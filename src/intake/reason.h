// Why a line was not counted: short phrases that stay the same, so that tallies can be compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace splitcount::intake {

enum class Reason : std::uint8_t {
  none,  ///< it counts
  line_too_long,
  empty_line,
  not_an_access_log_line,
  no_request,
  no_end_of_request,
  no_target,
  no_status,
  no_referer,
  no_agent,
  key_empty,
  key_too_long,
  key_not_utf8,
  key_has_nul,
  key_not_defined,     ///< the counter has missing = error and this key was never defined
  count_out_of_range,  ///< the slot would leave signed 64 bits
  refused,             ///< the counter refused it for another cause
};
inline constexpr std::size_t reasons_count = static_cast<std::size_t>(Reason::refused) + 1;

/// "no request", "key is empty", ...
[[nodiscard]] std::string_view to_text(Reason reason) noexcept;

/// Lines by reason; none is unused.
using ReasonTally = std::array<std::uint64_t, reasons_count>;
[[nodiscard]] constexpr std::size_t index_of(Reason reason) noexcept { return static_cast<std::size_t>(reason); }

}  // namespace splitcount::intake
