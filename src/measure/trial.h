// Designs against each other: many sessions at once, in turns, in a place of their own beside the user's tables.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/error.h>

#include <measure/design.h>
#include <measure/settings.h>
#include <measure/statistics.h>
#include <measure/target.h>

namespace splitcount::measure {

struct TrialOptions {
  int sessions = 64;                          ///< 1..limits::trial_sessions_max, and what the server allows
  std::chrono::milliseconds turn{3'000};      ///< of one design in one round
  int rounds = 3;
  bool insert_too = true;                     ///< an add inserts a row in the same transaction
  std::string isolation{};                    ///< "repeatable read" and so on; empty: the engine's reference
  const std::atomic<bool>* stop = nullptr;    ///< set by a signal handler, say: the turn ends and the tables are removed
};

/// What is going on, before each turn.
struct TrialProgress {
  std::string_view design;
  int turns_done = 0;
  int turns_total = 0;
};

/// What was measured of one design.
struct Measured {
  Design design;
  std::vector<double> adds_per_second;        ///< a round each
  Spread of_limit{};                          ///< adds_per_second by the limit's of the same round
  std::uint32_t p50_us = 0;                   ///< of one add, in microseconds, its repeats included; over all rounds
  std::uint32_t p99_us = 0;
  std::uint32_t p999_us = 0;
  std::uint32_t longest_us = 0;
  std::int64_t adds = 0;                      ///< answered as done, over all rounds
  /// The share of adds that waited for a lock. On engines with many writers: in transactions that stay open for
  /// limits::trial_hold_ms after their add, waits of 1 ms and more; any wait where the server's limit is in whole seconds.
  double share_waited = 0;
  std::int64_t deadlocks = 0;
  std::int64_t retries = 0;                   ///< adds sent again, after deadlocks and other errors that ask for it
  std::uint32_t total_us = 0;                 ///< one live total at rest, in microseconds; median
  double bytes_per_add = 0;                   ///< growth of its tables, without that of the rows inserted
  std::int64_t total_wrong_by = 0;            ///< what the total says beyond the adds that were answered; 0: exact
};

struct TrialResult {
  std::vector<Measured> designs;
  Settings settings;                          ///< of the database
  std::string place;                          ///< where the tables were
  std::size_t rounds = 0;                     ///< that are in the result; 0: stopped before one was done
  bool stopped = false;                       ///< by `stop`, before all rounds were done
  std::optional<Error> fault{};               ///< what ended the trial after these rounds, or left its place behind
};

/// Where a counter of ours has a wrong total: a sentence that names it. One by hand that is wrong is what was to be found.
[[nodiscard]] std::optional<std::string> wrong_total(const TrialResult& result);

/// How long it will take, about.
[[nodiscard]] std::chrono::seconds estimate(const TrialOptions& options, std::size_t designs);

/// Runs every design in each round and removes its tables. What cannot be run is refused before anything is created.
/// `tell` is called from this thread. Errors: invalid_argument (more sessions than the server has room for),
/// not_on_this_engine (an isolation level), permission_denied, database_busy (another trial is running).
[[nodiscard]] Result<TrialResult> run_trial(const Target& target, const std::vector<Design>& designs,
                                            const TrialOptions& options,
                                            const std::function<void(const TrialProgress&)>& tell = {});

}  // namespace splitcount::measure
