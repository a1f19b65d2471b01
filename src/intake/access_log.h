// One line of an access log: where its fields are.
//
//   10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET /a?b HTTP/1.1" 200 203 "http://from/" "Mozilla/5.0 (...)"
//   host                                       |  target       |  status   referer        agent
//                                              `-- request ----'           `---- combined only ----'
//
// Sources: the Apache mod_log_config page (formats, and that quotes inside a quoted field stand as \"),
// RFC 9112 section 3 (request line), RFC 3986 section 6.2.2.2 (percent-encoding of unreserved characters).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <intake/count.h>
#include <intake/reason.h>

namespace splitcount::intake {

/// What a line gave: a key, or why there is none. The text is a view into the line or into the scratch string.
struct Reading {
  std::string_view text{};
  Reason reason = Reason::none;
};

/// The field of a line (which has neither newline nor its carriage return). Whether it is a valid key is not checked.
/// A line needs only what lies before its field: what is broken behind it does not matter. A field without its closing
/// quote is refused, since nobody can know where it ends; but for the agent, which is the last thing in a line and is
/// taken to the line's end.
[[nodiscard]] Reading read_key(std::string_view line, Field field, std::size_t line_bytes_max, std::string& scratch);

/// Why rule::is_valid_key refuses this text; none where it does not.
[[nodiscard]] Reason key_reason(std::string_view key) noexcept;

/// A request target without query and fragment; http://host/path is reduced to /path (and to / where the path is
/// empty); percent-encoded unreserved characters are decoded, and nothing else. Into `scratch` only where needed.
[[nodiscard]] std::string_view path_of(std::string_view target, std::string& scratch);

/// Calls f(line, start) for each line of bytes that end with a newline: without the newline and a carriage return
/// before it; start is the offset of the line.
template <class F>
void each_line(std::string_view bytes, F f) {
  for (std::size_t start = 0; start < bytes.size();) {
    const auto end = bytes.find('\n', start);
    auto line = bytes.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    f(line, start);
    start = end + 1;
  }
}

}  // namespace splitcount::intake
