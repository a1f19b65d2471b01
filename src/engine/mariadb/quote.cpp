#include <engine/mariadb/quote.h>

namespace splitcount::engine::mariadb {
namespace {

std::string doubled(std::string_view text, char mark) {
  std::string out(1, mark);
  for (const char c : text) {
    if (c == mark) out += mark;
    out += c;
  }
  return out + mark;
}

}  // namespace

std::string quote_name(std::string_view name) { return doubled(name, '`'); }

std::string quote_text(std::string_view text) {
  if (text.find('\\') != std::string_view::npos) return quote_bytes(text);
  return doubled(text, '\'');
}

std::string quote_bytes(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "x'";
  out.reserve(bytes.size() * 2 + 3);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out + '\'';
}

}  // namespace splitcount::engine::mariadb
