// The words of this folder: formats, key fields and reasons as they are typed and shown.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <intake/count.h>
#include <intake/reason.h>

namespace splitcount::intake {
namespace {

template <class T>
using Word = std::pair<T, std::string_view>;

constexpr std::array<Word<Format>, 4> formats{{{Format::automatic, "auto"},
                                               {Format::combined, "combined"},
                                               {Format::common, "common"},
                                               {Format::lines, "lines"}}};
constexpr std::array<Word<Field>, 7> fields{{{Field::target, "target"},
                                             {Field::path, "path"},
                                             {Field::host, "host"},
                                             {Field::status, "status"},
                                             {Field::referer, "referer"},
                                             {Field::agent, "agent"},
                                             {Field::line, "line"}}};

template <class T, std::size_t N>
std::string_view word_of(const std::array<Word<T>, N>& words, T value) noexcept {
  const auto* const found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.first == value; });
  return found == words.end() ? std::string_view{} : found->second;
}

template <class T, std::size_t N>
Result<T> parse(const std::array<Word<T>, N>& words, std::string_view what, std::string_view text) {
  std::string right;
  for (const auto& [value, word] : words) {
    if (word == text) return value;
    if (!right.empty()) right += word == words.back().second ? " or " : ", ";
    right += word;
  }
  return fail(ErrorCode::invalid_argument, fmt::format("{} is no {}: {} would be right", quoted(text), what, right));
}

}  // namespace

std::string_view to_text(Format format) noexcept { return word_of(formats, format); }
std::string_view to_text(Field field) noexcept { return word_of(fields, field); }
Result<Format> parse_format(std::string_view text) { return parse(formats, "log format", text); }
Result<Field> parse_field(std::string_view text) { return parse(fields, "key field", text); }

std::string_view to_text(Reason reason) noexcept {
  switch (reason) {
    case Reason::none: return "counted";
    case Reason::line_too_long: return "line longer than 1 MiB";
    case Reason::empty_line: return "empty line";
    case Reason::not_an_access_log_line: return "not an access log line";
    case Reason::no_request: return "no request";
    case Reason::no_end_of_request: return "no end of the request";
    case Reason::no_target: return "no target in the request";
    case Reason::no_status: return "no status";
    case Reason::no_referer: return "no referer";
    case Reason::no_agent: return "no agent";
    case Reason::key_empty: return "key is empty";
    case Reason::key_too_long: return "key longer than 768 bytes";
    case Reason::key_not_utf8: return "key is not UTF-8";
    case Reason::key_has_nul: return "key holds a NUL byte";
    case Reason::key_not_defined: return "key is not defined";
    case Reason::count_out_of_range: return "count would leave 64 bits";
    case Reason::refused: return "refused by the counter";
  }
  return "refused by the counter";
}

}  // namespace splitcount::intake
