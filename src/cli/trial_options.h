// What the verbs that run a trial share: its options, its estimate and progress.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cli/app.h>
#include <cli/measured.h>

namespace splitcount::cli {

/// As given; what is left out depends on the database.
struct TrialRequest {
  std::optional<int> sessions_given;
  std::chrono::milliseconds turn{3'000};
  int rounds = 3;
  bool insert_too = true;
  std::string isolation;  ///< empty: the engine's reference

  [[nodiscard]] int sessions(const measure::Target& target) const;
};

void declare_trial(Command& command);
[[nodiscard]] Result<TrialRequest> read_trial(const Command& command);

/// Says how long it will take, runs it with progress on a terminal, and stops on Ctrl-C.
[[nodiscard]] Result<TrialReport> run_trial(const TrialRequest& request, const measure::Target& target,
                                            const std::vector<measure::Design>& designs, Session& session);

/// "postgresql 15.18, 2 processors"
[[nodiscard]] std::string engine_line(const TrialReport& report);
/// 1234 microseconds as "1.23"
[[nodiscard]] std::string milliseconds(std::uint32_t microseconds);

}  // namespace splitcount::cli
