// SQL text from sql/<dialect>/*.sql, embedded at build time (tools/embed_sql.cmake): each statement under its
// `-- name: NAME` line, with {placeholders} that `fill` replaces. A paragraph of comments before a `-- name:` line
// is about what follows, and belongs to no statement.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace splitcount::engine {

/// The statement of that name; the program ends where there is none, since that is a fault of the build.
[[nodiscard]] std::string_view statement(std::string_view dialect, std::string_view name);

/// What stands for a {name}: a name or a literal, already quoted by the dialect's quoting function, or a fragment of
/// SQL.
struct Placeholder {
  std::string name;
  std::string value;
};

/// Replaces each {placeholder} that has a value. What was put in is not looked at again.
[[nodiscard]] std::string fill(std::string_view text, std::span<const Placeholder> placeholders);

}  // namespace splitcount::engine
