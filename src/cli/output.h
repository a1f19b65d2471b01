// What a verb says: an answer on standard output, an error as one sentence on standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <splitcount/error.h>

namespace splitcount::cli {

/// How standard output looks to the user.
struct Terminal {
  bool colour = false;    ///< a terminal, and neither NO_COLOR nor TERM=dumb says otherwise
  bool unicode = false;   ///< the locale writes UTF-8
  std::size_t width = 0;  ///< columns; 0: no terminal, nothing is cut

  [[nodiscard]] std::string bold(std::string_view text) const;
  [[nodiscard]] std::string dim(std::string_view text) const;
};
[[nodiscard]] Terminal look_at_terminal();

/// Gathers the answer and writes it in one go, when the verb is done.
class Output {
 public:
  explicit Output(bool json) : json_(json), terminal_(look_at_terminal()) {}

  [[nodiscard]] bool json() const noexcept { return json_; }
  [[nodiscard]] const Terminal& terminal() const noexcept { return terminal_; }

  /// One line, or several; the last newline is added here.
  void print(std::string_view text);
  /// As it is.
  void print_raw(std::string_view text) { answer_ += text; }
  /// Something beside the answer, for the user's eyes: at once and on standard error.
  static void note(std::string_view sentence);
  /// The sentence on standard error and, with --json, the error's object on standard output.
  void report(const Error& error);

  /// A reader that has gone (| head) is no error. Errors: disk_full, io_error.
  [[nodiscard]] Result<void> flush();

 private:
  bool json_;
  Terminal terminal_;
  std::string answer_;
};

/// A key as a table shows it: as it is, or in quotes with \xNN where it holds what a terminal would obey or hide.
[[nodiscard]] std::string printable(std::string_view text);

/// Prose for a narrow terminal: lines that are too long are broken at blanks, and what is left of one begins the next one.
/// Options of a help keep their columns. Lines that are set in are commands or figures, and stay as they are.
[[nodiscard]] std::string wrapped(std::string_view text, const Terminal& terminal);

/// "1 key", "1,234 keys": the singular, and the plural where it is not the singular and an s.
[[nodiscard]] std::string counted(std::int64_t number, std::string_view singular, std::string_view plural = {});

/// A word for a shell to copy: as it is, or in single quotes.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace splitcount::cli
