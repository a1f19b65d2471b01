// How many slots, and which pick: where more of them stop helping.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <splitcount/error.h>
#include <splitcount/rule.h>

#include <measure/trial.h>

namespace splitcount::measure {

/// A step is as good as the best where it reaches this share of it: what is less than a tenth is no reason for more slots.
inline constexpr double good_enough = 0.9;

/// The first step that is good enough.
struct Knee {
  std::size_t at = 0;     ///< by all rounds
  std::size_t least = 0;  ///< by any half of the rounds
  std::size_t most = 0;
  /// Any half of the rounds says the same within a step, so another run would, too.
  [[nodiscard]] bool is_sure() const noexcept { return at - least <= 1 && most - at <= 1; }
  friend bool operator==(const Knee&, const Knee&) = default;
};

/// `steps`: adds a second of each step, smallest first, a value for each round. At least one step with at least one round.
[[nodiscard]] Knee find_knee(std::span<const std::vector<double>> steps);

/// True: `one` is better than `other` by more than a tenth in the median and in each half of the rounds.
[[nodiscard]] bool is_better(std::span<const double> one, std::span<const double> other);

/// The slot counts to try: 1, 2, 4, ... up to the first that gives each session one; for pick value primes near those.
[[nodiscard]] std::vector<int> steps_for(Pick pick, int sessions);

struct Advice {
  TrialResult curve;     ///< the limit, then a design for each slot count, smallest first
  TrialResult picks;     ///< the limit, then other picks and layouts at the slots advised; empty where none was tried
  std::vector<int> steps;
  Knee knee;
  Rule rule;             ///< what is advised
  bool sure = false;     ///< each half of two and more rounds agrees, and every total was exact; else nothing is advised
  std::string sentence;  ///< why, with figures
  bool stopped = false;  ///< before there was anything to go by
};

/// Runs the trials. `pick`: whose slot counts are searched; unset: session, and then the other picks and layouts are tried
/// with the slots found. Errors as those of run_trial; not_on_this_engine.
[[nodiscard]] Result<Advice> advise(const Target& target, const TrialOptions& options, std::optional<Pick> pick,
                                    const std::function<void(const TrialProgress&)>& tell = {});

}  // namespace splitcount::measure
