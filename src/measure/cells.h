// Numbers out of what a database answers in its own text form.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace splitcount::measure {

template <class Number>
[[nodiscard]] Number read_cell(const std::optional<std::string>& cell) {
  Number number{};
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), number);
  return number;
}

/// A whole number; 0 where there is none.
[[nodiscard]] inline std::int64_t number_of(const std::optional<std::string>& cell) { return read_cell<std::int64_t>(cell); }
[[nodiscard]] inline double real_of(const std::optional<std::string>& cell) { return read_cell<double>(cell); }

}  // namespace splitcount::measure
