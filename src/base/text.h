// Text from outside: is it UTF-8, how does it look in an error sentence, which name was meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace splitcount {

/// Strict UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// For an error sentence: in double quotes, control and invisible characters and bytes that are no UTF-8 as
/// \xNN, quotes and backslashes after a backslash, cut after `bytes_max` bytes with "...", so that no input can break
/// the line or the terminal. Where <iomanip> is included, too, a std::string needs `splitcount::quoted`, since
/// std::quoted fits better.
[[nodiscard]] std::string quoted(std::string_view bytes, std::size_t bytes_max = 60);

/// The candidate with the smallest edit distance, where that is small enough to be a slip; else empty.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string> candidates);

/// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t number);

}  // namespace splitcount
