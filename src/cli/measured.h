// What the verbs that measure say, as JSON; docs/measuring.md explains each field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cli/app.h>
#include <measure/advise.h>
#include <measure/doctor.h>
#include <measure/locks.h>
#include <measure/pages.h>
#include <measure/trial.h>

namespace splitcount::cli {

/// A trial with what it was made of.
struct TrialReport {
  std::string command;    ///< that runs it again
  std::string database;   ///< its name, without secrets
  std::string engine;     ///< "sqlite", "postgresql"
  measure::TrialOptions options;
  std::string isolation;  ///< in words
  measure::TrialResult result;
};

[[nodiscard]] std::string compare_json(const TrialReport& report);
[[nodiscard]] std::string advise_json(const TrialReport& report, const measure::Advice& advice);

/// The command that defines what is advised.
[[nodiscard]] std::string define_command(const TrialReport& report, const measure::Advice& advice);

/// What `json` says with what a page shows beside it: machine, settings, and the command. A database that is not there yet
/// has no settings.
[[nodiscard]] std::string page_json(std::string_view kind, const Session& session, const measure::Target& target,
                                    const std::string& json);

[[nodiscard]] std::string locks_json(const measure::LocksHeld& locks, std::string_view engine);
/// `why_none`: empty where somebody may wait.
[[nodiscard]] std::string waiters_json(const std::vector<measure::Waiter>& waiters, const std::string& why_none);
[[nodiscard]] std::string pages_json(const measure::SlotPages& pages);
/// `command`: how the program is called on this database.
[[nodiscard]] std::string diagnosis_json(const measure::Diagnosis& diagnosis, const std::string& command,
                                         const std::string& database, std::string_view engine);
/// The command that defines the counter.
[[nodiscard]] std::string define_command(const std::string& command, const measure::Remedy& remedy);

}  // namespace splitcount::cli
