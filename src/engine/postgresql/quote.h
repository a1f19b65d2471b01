// The quoting functions of this dialect: the only way of a name or a text into a statement, and of texts into an array.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace splitcount::engine::postgresql {

/// A name as it is where that is plain ([a-z_][a-z0-9_]*) and no word that PostgreSQL needs quoted, else in double quotes.
[[nodiscard]] std::string quote_name(std::string_view name);

/// A text literal, whatever standard_conforming_strings is. The text holds no NUL.
[[nodiscard]] std::string quote_text(std::string_view text);

/// Appends an element to the text form of an array, with its comma.
void append_element(std::string& array, std::string_view text);
[[nodiscard]] std::string array_of(std::span<const std::string> texts);

}  // namespace splitcount::engine::postgresql
