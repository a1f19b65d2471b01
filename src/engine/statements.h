// SQL text from sql/<dialect>/*.sql, embedded at build time (tools/embed_sql.cmake): each statement under its
// `-- name: NAME` line, with {placeholders} for identifiers that `fill` replaces.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace splitcount::engine {

/// The statement of that name; the program ends where there is none, since that is a fault of the build.
[[nodiscard]] std::string_view statement(std::string_view dialect, std::string_view name);

/// Replaces each {placeholder}; values must already be quoted by the dialect's quoting function.
[[nodiscard]] std::string fill(std::string_view text,
                               std::initializer_list<std::pair<std::string_view, std::string_view>> values);

}  // namespace splitcount::engine
