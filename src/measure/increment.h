// What a statement counts up: a look at its words, without a database. It knows the forms that counting is written in
// (SET n = n + 1, also by upsert and MERGE), and leaves alone what it does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace splitcount::measure {

struct Increment {
  std::string schema{};      ///< as written, folded where it is not in quotes; empty: not said
  std::string table{};
  std::string column{};
  std::string amount{};      ///< "1", "-1", "$2"; empty: more than one word
  std::string key_column{};  ///< of a condition that is this equality alone, or of an upsert; empty: something else
  bool has_condition = false;     ///< or it is an upsert: it is for some rows only
  bool asks_for_count = false;    ///< the condition looks at the column
  bool returns_count = false;
};

/// In the order of the text, which may hold several statements, or a function's or trigger's body.
[[nodiscard]] std::vector<Increment> increments(std::string_view text);

/// The statement in one line, its texts as '?', without comments; `numbers_too`: its numbers as ?, so that statements that
/// differ in values only are equal. Parameters stay.
[[nodiscard]] std::string shape_of(std::string_view statement, bool numbers_too);

}  // namespace splitcount::measure
