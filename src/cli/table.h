// Tables and bars for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/add.h>

#include <cli/output.h>

namespace splitcount::cli {

class Table {
 public:
  enum class Align : bool { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  /// The first column is the one that is cut where the terminal is too narrow.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// With a heading, and a newline after each row.
  [[nodiscard]] std::string render(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// As long as `number` is against `largest`; nothing for what is not above 0.
[[nodiscard]] std::string bar(std::int64_t number, std::int64_t largest, const Terminal& terminal);

struct Bar {
  std::string label;
  std::int64_t number = 0;
};
/// A label, its number and its bar in each row, against the largest.
[[nodiscard]] std::string bars_table(std::string_view label_title, std::string_view number_title, const std::vector<Bar>& bars,
                                     const Terminal& terminal);

/// The columns that text takes in a terminal. `text` is UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// Cut to that many columns, with a mark where something was cut.
[[nodiscard]] std::string cut_to(std::string_view text, std::size_t width, const Terminal& terminal);

/// Keys with their totals and bars, as `top` and `count` show them. `key_title` heads the first column.
[[nodiscard]] std::string totals_table(const std::vector<Total>& totals, std::string_view key_title,
                                       const Terminal& terminal);

}  // namespace splitcount::cli
