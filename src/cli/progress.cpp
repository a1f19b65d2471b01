#include <cli/progress.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/table.h>

namespace splitcount::cli {
namespace {

constexpr std::chrono::milliseconds redraw_ms_min{100};
constexpr std::size_t bar_width = 24;

bool can_draw() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t stderr_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(can_draw()) {}

ProgressLine::~ProgressLine() {
  if (is_drawn_) std::fputs("\r\x1b[K", stderr);
}

bool ProgressLine::is_due() const {
  return is_terminal_ && (!is_drawn_ || std::chrono::steady_clock::now() - drawn_ >= redraw_ms_min);
}

void ProgressLine::draw(std::string_view line) {
  // One column stays free: a terminal that wraps at its edge would scroll.
  std::fputs(fmt::format("\r{}\x1b[K", cut_to(line, stderr_width() - 1, Terminal{})).c_str(), stderr);
  drawn_ = std::chrono::steady_clock::now();
  is_drawn_ = true;
}

ProgressBar::ProgressBar(std::string name)
    : name_(name.substr(name.find_last_of('/') + 1)), started_(std::chrono::steady_clock::now()) {}

void ProgressBar::show(const intake::Progress& progress) {
  if (!line_.is_due()) return;
  const double seconds =
      std::max(0.001, std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count());
  std::string done;
  if (progress.bytes_total && *progress.bytes_total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(progress.bytes_done) / static_cast<double>(*progress.bytes_total));
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(bar_width));
    done = fmt::format("[{}{}] {:3.0f}%  ", std::string(filled, '#'), std::string(bar_width - filled, '.'), share * 100.0);
  }
  const auto lines = static_cast<std::int64_t>(progress.lines_read);
  line_.draw(fmt::format("{}  {}{} lines, {} a second", name_, done, grouped(lines),
                         grouped(static_cast<std::int64_t>(static_cast<double>(lines) / seconds))));
}

}  // namespace splitcount::cli
