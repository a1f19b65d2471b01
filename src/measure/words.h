// A statement as words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace splitcount::measure {

struct Word {
  enum class Kind : std::uint8_t { name, quoted_name, number, text, parameter, sign };
  Kind kind = Kind::sign;
  std::string text{};       ///< a name folded to small letters, a quoted one without its quotes; a text is empty
  std::string_view as_written{};
  bool after_blank = false; ///< something that is no word stands before it

  [[nodiscard]] bool is(std::string_view keyword) const noexcept {
    return (kind == Kind::name || kind == Kind::sign) && text == keyword;
  }
  [[nodiscard]] bool is_name() const noexcept { return kind == Kind::name || kind == Kind::quoted_name; }
};

/// Without comments. What is cut off in the middle ends there. The views are into `statement`.
[[nodiscard]] std::vector<Word> words_of(std::string_view statement);

}  // namespace splitcount::measure
