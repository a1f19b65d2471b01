#include <engine/statements.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include <engine/embedded_sql.h>

namespace splitcount::engine {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
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
      all[{file.dialect, name}] = trimmed(file.text.substr(line_end, next - line_end));
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

std::string fill(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  out.reserve(text.size() + 64);
  for (std::size_t at = 0; at < text.size();) {
    bool replaced = false;
    if (text[at] == '{') {
      for (const auto& [name, value] : values) {
        if (text.substr(at + 1, name.size()) == name && at + 1 + name.size() < text.size() && text[at + 1 + name.size()] == '}') {
          out += value;
          at += name.size() + 2;
          replaced = true;
          break;
        }
      }
    }
    if (!replaced) out += text[at++];
  }
  return out;
}

}  // namespace splitcount::engine
