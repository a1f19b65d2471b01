// The one parser for whole numbers from outside, the same for the command line, RESP and HTTP, and arithmetic
// that never wraps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <splitcount/error.h>

namespace splitcount::rule {

/// -?digits within signed 64 bits: no plus, no leading zeros ("0" itself is fine, "-0" is not), no blanks.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text) noexcept;

/// The same with a sentence. Error: amount_invalid.
[[nodiscard]] Result<std::int64_t> parse_amount(std::string_view text);
/// Error: value_invalid.
[[nodiscard]] Result<std::int64_t> parse_value(std::string_view text);
/// A slot number as text; only the form is checked here, the range belongs to the rule. Error: slot_missing
/// for a whole number outside 0..1023, invalid_argument for anything else.
[[nodiscard]] Result<int> parse_slot(std::string_view text);
/// A slot count, 1..1024. Error: rule_invalid.
[[nodiscard]] Result<int> parse_slots(std::string_view text);

/// a + b, or nothing where that leaves signed 64 bits.
[[nodiscard]] std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept;

/// The floor remainder: 0..divisor-1 also for negative numbers. divisor > 0.
[[nodiscard]] std::int64_t floor_remainder(std::int64_t number, std::int64_t divisor) noexcept;

}  // namespace splitcount::rule
