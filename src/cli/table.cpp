#include <cli/table.h>

#include <algorithm>
#include <array>
#include <cwchar>
#include <numeric>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::cli {
namespace {

constexpr std::size_t first_column_width_min = 12;
constexpr std::size_t bar_width = 24;
constexpr std::string_view gap = "  ";

struct Step {
  std::size_t bytes;
  std::size_t width;
};

/// The character at the front of `text`, which is UTF-8 and not empty.
Step first_step(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = std::min<std::size_t>(text.size(), lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
  if (bytes == 1) return {1, 1};
  wchar_t code = static_cast<wchar_t>(lead & (0x7FU >> bytes));
  for (std::size_t i = 1; i < bytes; ++i)
    code = static_cast<wchar_t>((static_cast<std::uint32_t>(code) << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU));
  const int width = wcwidth(code);  // -1 where the locale does not know it
  return {bytes, width < 0 ? 1U : static_cast<std::size_t>(width)};
}

std::string padded(std::string_view cell, std::size_t width, Table::Align align) {
  const std::size_t has = display_width(cell);
  const std::string blanks(has < width ? width - has : 0, ' ');
  return align == Table::Align::right ? blanks + std::string(cell) : std::string(cell) + blanks;
}

std::string joined(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   const std::vector<Table::Column>& columns, const Terminal& terminal) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += gap;
    line += padded(cut_to(cells[i], widths[i], terminal), widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// What still does not fit a narrow terminal is left out from the right; the first two columns stay.
void drop_columns_beyond(std::size_t terminal_width, std::vector<std::string>& titles, std::vector<std::size_t>& widths) {
  const auto width = [&widths] {
    return std::accumulate(widths.begin(), widths.end(), gap.size() * (widths.size() - 1));
  };
  while (widths.size() > 2 && width() > terminal_width) {
    widths.pop_back();
    titles.pop_back();
  }
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Step step = first_step(text);
    width += step.width;
    text.remove_prefix(step.bytes);
  }
  return width;
}

std::string cut_to(std::string_view text, std::size_t width, const Terminal& terminal) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view mark = terminal.unicode ? "\u2026" : "...";
  const std::size_t mark_width = terminal.unicode ? 1 : 3;
  const std::size_t room = width > mark_width ? width - mark_width : 0;
  std::size_t kept = 0;
  std::size_t used = 0;
  while (kept < text.size()) {
    const Step step = first_step(text.substr(kept));
    if (used + step.width > room) break;
    kept += step.bytes;
    used += step.width;
  }
  return fmt::format("{}{}", text.substr(0, kept), mark);
}

std::string Table::render(const Terminal& terminal) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  for (const auto& cells : rows_)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  std::size_t all = gap.size() * (widths.size() - 1);
  for (const auto width : widths) all += width;
  if (terminal.width > 0 && all > terminal.width) {
    const std::size_t over = all - terminal.width;
    widths[0] = std::max(std::min(widths[0], first_column_width_min), widths[0] > over ? widths[0] - over : 0);
    drop_columns_beyond(terminal.width, titles, widths);
  }
  std::string out = terminal.bold(joined(titles, widths, columns_, terminal)) + "\n";
  for (const auto& cells : rows_) out += joined(cells, widths, columns_, terminal) + "\n";
  return out;
}

std::string bar(std::int64_t number, std::int64_t largest, const Terminal& terminal) {
  // A bar takes a third of a narrow terminal at most.
  const std::size_t width = terminal.width > 0 ? std::min(bar_width, terminal.width / 3) : bar_width;
  if (number <= 0 || largest <= 0) return {};
  constexpr std::array<std::string_view, 8> eighths = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
  const double share = std::min(1.0, static_cast<double>(number) / static_cast<double>(largest));
  const auto parts = std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(width * 8)));
  if (!terminal.unicode) return std::string(std::max<std::size_t>(1, parts / 8), '#');
  std::string out;
  for (std::size_t i = 0; i < parts / 8; ++i) out += "\u2588";
  out += eighths[parts % 8];
  return out;
}

std::string bars_table(std::string_view label_title, std::string_view number_title, const std::vector<Bar>& bars,
                       const Terminal& terminal) {
  Table table({{std::string(label_title), Table::Align::left}, {std::string(number_title), Table::Align::right}, {"", Table::Align::left}});
  std::int64_t largest = 0;
  for (const auto& one : bars) largest = std::max(largest, one.number);
  for (const auto& one : bars) table.row({one.label, grouped(one.number), bar(one.number, largest, terminal)});
  return table.render(terminal);
}

std::string totals_table(const std::vector<Total>& totals, std::string_view key_title, const Terminal& terminal) {
  std::vector<Bar> bars;
  for (const auto& total : totals) bars.push_back({total.key ? printable(*total.key) : "(no key)", total.total});
  return bars_table(key_title, "total", bars, terminal);
}

}  // namespace splitcount::cli
