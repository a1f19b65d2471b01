// What the verbs that run a trial share: its options, its estimate and progress.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cli/app.h>
#include <cli/measured.h>
#include <cli/progress.h>

namespace splitcount::cli {

/// As given; what is left out depends on the database.
struct TrialRequest {
  std::optional<int> sessions_given;
  std::chrono::milliseconds turn{};
  int rounds = 0;
  bool insert_too = true;
  std::string isolation;  ///< empty: the engine's reference
  std::optional<std::string> report{};  ///< the file of --report

  [[nodiscard]] int sessions(const measure::Target& target) const;
};

/// With what is taken where --seconds and --rounds are left out.
void declare_trial(Command& command, int seconds, int rounds);
[[nodiscard]] Result<TrialRequest> read_trial(const Command& command, int seconds, int rounds);

/// All but the result. From here on Ctrl-C ends the trial, and not the program.
[[nodiscard]] TrialReport report_of(const TrialRequest& request, const measure::Target& target, const Session& session);
[[nodiscard]] std::string progress_text(const measure::TrialProgress& progress);
/// How long so many designs will take, for the user's eyes.
[[nodiscard]] std::string estimate_text(const TrialReport& report, std::size_t designs);

/// Runs `trial`, which takes what measure::run_trial calls. Says how long it will take when it begins, which is when
/// nothing has been refused; shows progress on a terminal.
template <class Trial>
auto with_progress(const TrialReport& report, std::size_t designs, const Trial& trial) {
  ProgressLine line;
  return trial([&line, &report, designs, is_begun = false](const measure::TrialProgress& progress) mutable {
    if (!std::exchange(is_begun, true)) Output::note(estimate_text(report, designs));
    line.draw_if_terminal(progress_text(progress));
  });
}

/// "postgresql 15.18, 2 processors"
[[nodiscard]] std::string engine_line(const TrialReport& report);
/// "0.80 (0.75-0.90)", and of one round "0.80"
[[nodiscard]] std::string spread_text(const measure::Spread& spread, std::size_t rounds);
/// Beneath figures of one round: that they are no more than that. Empty where there were more.
[[nodiscard]] std::string one_round_text(std::size_t rounds);
/// 1234 microseconds as "1.23"
[[nodiscard]] std::string milliseconds(std::uint32_t microseconds);

}  // namespace splitcount::cli
