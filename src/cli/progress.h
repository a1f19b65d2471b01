// Progress of long work on standard error, where that is a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <intake/count.h>

namespace splitcount::cli {

/// One line, drawn anew now and then.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// The line is wiped: what follows begins on a clean one.
  ~ProgressLine();

  [[nodiscard]] bool is_due() const;
  void draw(std::string_view line);
  /// At once, whenever the line before was drawn.
  void draw_if_terminal(std::string_view line) {
    if (is_terminal_) draw(line);
  }

 private:
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point drawn_{};
};

class ProgressBar {
 public:
  /// `name`: of the file, for the user's eyes.
  explicit ProgressBar(std::string name);

  void show(const intake::Progress& progress);

 private:
  std::string name_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace splitcount::cli
