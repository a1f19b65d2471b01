#include <rule/amount.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>

namespace splitcount::rule {
namespace {

/// -?digits in the one form that each number has, of any length.
bool is_whole(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (text.empty() || !digits) return false;
  return text.front() != '0' || (text.size() == 1 && !negative);
}

Result<std::int64_t> parse_with_sentence(std::string_view text, ErrorCode code, std::string_view what) {
  if (const auto number = parse_whole(text)) return *number;
  if (is_whole(text)) {
    return fail(code, fmt::format("{} {} leaves signed 64 bits, which go from {} to {}", what, quoted(text),
                                  std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
  }
  return fail(code, fmt::format("{} {} is no whole number; write digits, with a minus in front where it is negative, "
                                "without plus, leading zeros or blanks",
                                what, quoted(text)));
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) noexcept {
  if (!is_whole(text)) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  // Downwards, since the lowest number has no positive counterpart.
  std::int64_t number = 0;
  for (const char digit : text) {
    if (__builtin_mul_overflow(number, 10, &number) || __builtin_sub_overflow(number, digit - '0', &number)) {
      return std::nullopt;
    }
  }
  if (negative) return number;
  if (number == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return -number;
}

Result<std::int64_t> parse_amount(std::string_view text) {
  return parse_with_sentence(text, ErrorCode::amount_invalid, "amount");
}

Result<std::int64_t> parse_value(std::string_view text) {
  return parse_with_sentence(text, ErrorCode::value_invalid, "value");
}

Result<int> parse_slot(std::string_view text) {
  constexpr int last = limits::slots_max - 1;
  if (!is_whole(text)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("slot {} is no whole number; slots are numbered from 0 to {} at most", quoted(text), last));
  }
  const auto number = parse_whole(text);
  if (!number || *number < 0 || *number > last) {
    return fail(ErrorCode::slot_missing,
                fmt::format("slot {} cannot exist; slots are numbered from 0 to {} at most", quoted(text), last));
  }
  return static_cast<int>(*number);
}

Result<int> parse_slots(std::string_view text) {
  const auto number = parse_whole(text);
  if (!number || *number < 1 || *number > limits::slots_max) {
    return fail(ErrorCode::rule_invalid,
                fmt::format("slots is a whole number from 1 to {}, and {} is not", limits::slots_max, quoted(text)));
  }
  return static_cast<int>(*number);
}

std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

std::int64_t floor_remainder(std::int64_t number, std::int64_t divisor) noexcept {
  const std::int64_t remainder = number % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

}  // namespace splitcount::rule
