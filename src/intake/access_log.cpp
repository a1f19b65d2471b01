#include <intake/access_log.h>

#include <algorithm>
#include <optional>

#include <base/limits.h>
#include <base/text.h>
#include <rule/key.h>

namespace splitcount::intake {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_unreserved(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/// The next double quote that no backslash escapes. Looks back at most to `from`, so the whole line costs linear time.
std::size_t find_quote(std::string_view line, std::size_t from) noexcept {
  for (auto start = from;;) {
    const auto at = line.find('"', start);
    if (at == npos) return npos;
    auto backslashes = at;
    while (backslashes > start && line[backslashes - 1] == '\\') --backslashes;
    if ((at - backslashes) % 2 == 0) return at;
    start = at + 1;
  }
}

/// A quoted field: what is between the quotes, and where its closing quote is (npos: there is none).
struct QuotedField {
  std::string_view text;
  std::size_t close = npos;
};

std::optional<QuotedField> quoted_field(std::string_view line, std::size_t from) noexcept {
  const auto open = find_quote(line, from);
  if (open == npos) return std::nullopt;
  const auto close = find_quote(line, open + 1);
  return QuotedField{line.substr(open + 1, close == npos ? npos : close - open - 1), close};
}

Reading read_host(std::string_view line) noexcept {
  const auto end = line.find(' ');
  if (end == npos || end == 0) return {{}, Reason::not_an_access_log_line};
  return {line.substr(0, end)};
}

/// The request line's second word. Blanks are never part of a target (RFC 9112), so a stray one ends it.
Reading read_target(std::string_view line) noexcept {
  const auto request = quoted_field(line, 0);
  if (!request) return {{}, Reason::no_request};
  const auto text = request->text;
  const auto start = text.find_first_not_of(' ', std::min(text.find(' '), text.size()));
  if (start == npos) return {{}, request->close == npos ? Reason::no_end_of_request : Reason::no_target};
  const auto end = text.find(' ', start);
  if (end == npos && request->close == npos) return {{}, Reason::no_end_of_request};
  const auto target = text.substr(start, end == npos ? npos : end - start);
  if (end == npos && target.starts_with("HTTP/")) return {{}, Reason::no_target};
  return {target};
}

Reading read_status(std::string_view line, std::size_t request_close) noexcept {
  const auto text = line.substr(request_close + 1);
  const bool right = text.size() >= 4 && text[0] == ' ' && is_digit(text[1]) && is_digit(text[2]) && is_digit(text[3]) &&
                     (text.size() == 4 || text[4] == ' ');
  if (!right) return {{}, Reason::no_status};
  return {text.substr(1, 3)};
}

/// Status, referer or agent: what stands behind the request.
Reading read_behind_request(std::string_view line, Field field) noexcept {
  const auto request = quoted_field(line, 0);
  if (!request) return {{}, Reason::no_request};
  if (request->close == npos) return {{}, Reason::no_end_of_request};
  if (field == Field::status) return read_status(line, request->close);
  const auto referer = quoted_field(line, request->close + 1);
  if (!referer || referer->close == npos) return {{}, field == Field::agent ? Reason::no_agent : Reason::no_referer};
  if (field == Field::referer) return {referer->text};
  const auto agent = quoted_field(line, referer->close + 1);
  if (!agent) return {{}, Reason::no_agent};
  return {agent->text};
}

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The unreserved character that is percent-encoded at `at`, or 0.
char encoded_unreserved(std::string_view text, std::size_t at) noexcept {
  if (at + 2 >= text.size()) return 0;
  const int high = hex_digit(text[at + 1]);
  const int low = hex_digit(text[at + 2]);
  if (high < 0 || low < 0) return 0;
  const char c = static_cast<char>(high * 16 + low);
  return is_unreserved(c) ? c : '\0';
}

/// Removes scheme://authority where the target begins so.
std::string_view without_authority(std::string_view target) noexcept {
  const auto colon = target.find("://");
  if (colon == npos || colon == 0 || !is_letter(target[0])) return target;
  const auto scheme = target.substr(0, colon);
  const bool right = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
  if (!right) return target;
  const auto path = target.find_first_of("/?#", colon + 3);
  if (path == npos || target[path] != '/') return "/";
  return target.substr(path);
}

}  // namespace

std::string_view path_of(std::string_view target, std::string& scratch) {
  auto path = target;
  if (!path.empty() && path[0] != '/') path = without_authority(path);
  path = path.substr(0, path.find_first_of("?#"));
  auto at = path.find('%');
  if (at == npos) return path;
  scratch.assign(path.substr(0, at));
  while (at < path.size()) {
    const char decoded = path[at] == '%' ? encoded_unreserved(path, at) : '\0';
    scratch += decoded != '\0' ? decoded : path[at];
    at += decoded != '\0' ? 3 : 1;
  }
  return scratch;
}

Reading read_key(std::string_view line, Field field, std::size_t line_bytes_max, std::string& scratch) {
  if (line.size() > line_bytes_max) return {{}, Reason::line_too_long};
  if (field == Field::line) return {line};
  if (line.empty()) return {{}, Reason::empty_line};
  switch (field) {
    case Field::host: return read_host(line);
    case Field::target: return read_target(line);
    case Field::path: {
      auto reading = read_target(line);
      if (reading.reason == Reason::none) reading.text = path_of(reading.text, scratch);
      return reading;
    }
    default: return read_behind_request(line, field);
  }
}

Reason key_reason(std::string_view key) noexcept {
  if (rule::is_valid_key(key)) return Reason::none;
  if (key.empty()) return Reason::key_empty;
  if (key.size() > limits::key_bytes_max) return Reason::key_too_long;
  if (key.find('\0') != npos) return Reason::key_has_nul;
  return Reason::key_not_utf8;
}

}  // namespace splitcount::intake
