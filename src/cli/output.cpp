#include <cli/output.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>

namespace splitcount::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool locale_writes_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos || value.find("UTF8") != value.npos;
  }
  return false;
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

/// Everything, or the errno of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // somebody who shares the stream made it non-blocking
      pollfd writable{descriptor, POLLOUT, 0};
      (void)::poll(&writable, 1, -1);
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::string Terminal::bold(std::string_view text) const {
  return colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string Terminal::dim(std::string_view text) const {
  return colour ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

Terminal look_at_terminal() {
  Terminal terminal;
  terminal.unicode = locale_writes_utf8();
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  terminal.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb" && !environment("TERM").empty();
  terminal.width = terminal_width();
  return terminal;
}

void Output::print(std::string_view text) {
  answer_ += text;
  if (!text.ends_with('\n')) answer_ += '\n';
}

void Output::note(std::string_view sentence) {
  // Nothing is left to tell a user about whose standard error is gone.
  (void)write_all(STDERR_FILENO, fmt::format("splitcount: {}\n", sentence));
}

void Output::report(const Error& error) {
  note(error.message);
  if (json_) print(error_json(error));
}

Result<void> Output::flush() {
  const int error = write_all(STDOUT_FILENO, answer_);
  answer_.clear();
  if (error == 0 || error == EPIPE) return {};
  return fail(error == ENOSPC || error == EDQUOT || error == EFBIG ? ErrorCode::disk_full : ErrorCode::io_error,
              fmt::format("standard output cannot be written ({})", std::strerror(error)));
}

std::string printable(std::string_view text) {
  std::string in_quotes = splitcount::quoted(text, text.size());
  const bool is_plain = in_quotes.size() == text.size() + 2 && in_quotes.compare(1, text.size(), text) == 0;
  const bool has_edges = !text.empty() && text.front() != ' ' && text.back() != ' ';
  return is_plain && has_edges ? std::string(text) : in_quotes;
}

std::string wrapped(std::string_view text, const Terminal& terminal) {
  constexpr std::size_t option_text_at = 30;  // as Command::help sets it
  constexpr std::size_t option_text_width_min = 30;
  if (terminal.width == 0) return std::string(text);
  std::string out;
  std::string left;  // of a line that was broken
  std::size_t left_at = 0;
  const auto flush_left = [&] {
    if (!left.empty()) out += std::string(left_at, ' ') + std::exchange(left, {}) + "\n";
  };
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto begins = std::min(line.find_first_not_of(' '), line.size());
    const bool is_option = line.starts_with("  -");
    const std::size_t goes_on_at = begins == 0 ? 0 : option_text_at;
    const bool is_prose = begins == 0 || ((is_option || begins == option_text_at) &&
                                          terminal.width >= option_text_at + option_text_width_min);
    if (!left.empty() && !is_option && !line.empty() && begins == left_at) {
      line = std::string(left_at, ' ') + std::exchange(left, {}) + " " + line.substr(begins);
    }
    flush_left();
    bool is_broken = false;
    while (is_prose && line.size() > terminal.width) {
      const auto at = line.rfind(' ', terminal.width);
      if (at == line.npos || at <= std::max(goes_on_at, begins)) break;
      out += line.substr(0, at) + "\n";
      line = std::string(goes_on_at, ' ') + line.substr(at + 1);
      is_broken = true;
    }
    if (is_broken) {
      left = line.substr(goes_on_at);
      left_at = goes_on_at;
    } else {
      out += line + "\n";
    }
  }
  flush_left();
  return out;
}

std::string counted(std::int64_t number, std::string_view singular, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", singular);
  return plural.empty() ? fmt::format("{} {}s", grouped(number), singular) : fmt::format("{} {}", grouped(number), plural);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@%+=,";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace splitcount::cli
