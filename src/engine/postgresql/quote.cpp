#include <engine/postgresql/quote.h>

#include <algorithm>

namespace splitcount::engine::postgresql {
namespace {

bool is_plain(std::string_view name) {
  const auto begins = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto goes_on = [begins](char c) { return begins(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && begins(name.front()) && std::all_of(name.begin(), name.end(), goes_on);
}

std::string doubled(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char c : text) {
    if (marks.find(c) != std::string_view::npos) out += c;
    out += c;
  }
  return out;
}

}  // namespace

std::string quote_name(std::string_view name) {
  return is_plain(name) ? std::string(name) : '"' + doubled(name, "\"") + '"';
}

std::string quote_text(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  return escapes ? "E'" + doubled(text, "'\\") + '\'' : '\'' + doubled(text, "'") + '\'';
}

void append_element(std::string& array, std::string_view text) {
  if (array.size() > 1) array += ',';
  array += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') array += '\\';
    array += c;
  }
  array += '"';
}

}  // namespace splitcount::engine::postgresql
