#include <engine/statements.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include <engine/embedded_sql.h>

namespace splitcount::engine {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
}

bool is_comment(std::string_view paragraph) {
  while (!paragraph.empty()) {
    if (!paragraph.starts_with("--")) return false;
    paragraph.remove_prefix(std::min(paragraph.find('\n'), paragraph.size() - 1) + 1);
  }
  return true;
}

/// Without the paragraphs of comments at the end, but never without its first paragraph.
std::string_view without_next_comment(std::string_view text) {
  constexpr std::string_view blank_line = "\n\n";
  text = trimmed(text);
  for (auto last = text.rfind(blank_line); last != std::string_view::npos; last = text.rfind(blank_line)) {
    if (!is_comment(text.substr(last + blank_line.size()))) break;
    text = trimmed(text.substr(0, last));
  }
  return text;
}

std::map<Key, std::string_view> read_all() {
  constexpr std::string_view mark = "-- name: ";
  std::map<Key, std::string_view> all;
  for (std::size_t i = 0; i < embedded_files_count; ++i) {
    const auto& file = embedded_files[i];
    for (auto at = file.text.find(mark); at != std::string_view::npos;) {
      const auto line_end = file.text.find('\n', at);
      const auto name = trimmed(file.text.substr(at + mark.size(), line_end - at - mark.size()));
      const auto next = file.text.find(mark, line_end);
      all[{file.dialect, name}] = without_next_comment(file.text.substr(line_end, next - line_end));
      at = next;
    }
  }
  return all;
}

}  // namespace

std::string_view statement(std::string_view dialect, std::string_view name) {
  static const auto all = read_all();
  const auto found = all.find({dialect, name});
  if (found == all.end()) {
    std::fprintf(stderr, "splitcount: no statement %.*s in sql/%.*s\n", static_cast<int>(name.size()), name.data(),
                 static_cast<int>(dialect.size()), dialect.data());
    std::abort();
  }
  return found->second;
}

std::string fill(std::string_view text, std::span<const Placeholder> placeholders) {
  std::string out;
  out.reserve(text.size() + 64);
  while (!text.empty()) {
    const auto open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const auto close = text.find('}');
    const auto name = text.substr(1, close == std::string_view::npos ? 0 : close - 1);
    const auto found = std::find_if(placeholders.begin(), placeholders.end(),
                                    [name](const Placeholder& placeholder) { return placeholder.name == name; });
    if (found == placeholders.end()) {
      out += '{';
      text.remove_prefix(1);
    } else {
      out += found->value;
      text.remove_prefix(close + 1);
    }
  }
  return out;
}

}  // namespace splitcount::engine
