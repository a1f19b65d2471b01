// A progress bar on standard error, where that is a terminal.
#pragma once

#include <chrono>
#include <string>

#include <intake/count.h>

namespace splitcount::cli {

class ProgressBar {
 public:
  /// `name`: of the file, for the user's eyes.
  explicit ProgressBar(std::string name);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// The line is wiped: what follows begins on a clean one.
  ~ProgressBar();

  void show(const intake::Progress& progress);

 private:
  std::string name_;
  bool is_terminal_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace splitcount::cli
