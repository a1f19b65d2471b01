// What the verbs that measure say, as JSON; docs/measuring.md explains each field.
#pragma once

#include <string>
#include <string_view>

#include <measure/advise.h>
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

}  // namespace splitcount::cli
