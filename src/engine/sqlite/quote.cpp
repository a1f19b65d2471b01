#include <engine/sqlite/quote.h>

#include <algorithm>

#include <sqlite3.h>

namespace splitcount::engine::sqlite {
namespace {

std::string enclosed(std::string_view text, char mark) {
  std::string out(1, mark);
  for (const char c : text) {
    if (c == mark) out += mark;
    out += c;
  }
  return out + mark;
}

bool is_plain(std::string_view name) {
  const auto begins = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto goes_on = [begins](char c) { return begins(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && begins(name.front()) && std::all_of(name.begin(), name.end(), goes_on) &&
         sqlite3_keyword_check(name.data(), static_cast<int>(name.size())) == 0;
}

}  // namespace

std::string quote_name(std::string_view name) { return is_plain(name) ? std::string(name) : enclosed(name, '"'); }

std::string quote_text(std::string_view text) { return enclosed(text, '\''); }

}  // namespace splitcount::engine::sqlite
