// The quoting functions of this dialect: the only way of a name or a text into a statement.
#pragma once

#include <string>
#include <string_view>

namespace splitcount::engine::sqlite {

/// A name as it is where that is plain ([a-z_][a-z0-9_]*) and no keyword of SQLite, else in double quotes. Plain names
/// stay bare on purpose: SQLite takes a quoted name that it cannot resolve for a text.
[[nodiscard]] std::string quote_name(std::string_view name);

/// A text literal. The text holds no NUL.
[[nodiscard]] std::string quote_text(std::string_view text);

}  // namespace splitcount::engine::sqlite
