// A row of splitcount_counters as every engine stores it, and the errors of a copy that is no longer right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <engine/engine.h>

namespace splitcount::engine {

/// The words as they are stored. Somebody may have written them by hand.
struct RuleRow {
  std::string_view name;
  std::optional<std::string_view> key_column;
  std::int64_t slots = 0;
  std::string_view pick;
  std::string_view missing;
  std::string_view retries;
  std::optional<std::int64_t> window_seconds;
  std::string_view freshness;
  std::string_view layout;
};

/// The rule that a row stands for. Error: rule_invalid or not_on_this_engine, naming the counter.
[[nodiscard]] Result<Rule> read_rule(const RuleRow& row, const rule::EngineTraits& traits);

/// Nothing where the stored rule is the one that `counter` was read from. `is_current`: unset where there is no row.
/// Error: rule_changed, or `gone` where there is none.
[[nodiscard]] Result<void> judge_current(const StoredCounter& counter, std::optional<bool> is_current, ErrorCode gone);

/// Nothing where no object of the counter is missing. Error: database_corrupt, naming those that are.
[[nodiscard]] Result<void> judge_objects(const StoredCounter& counter, std::span<const std::string> missing);

/// That `maintain` should run, for Status::overdue.
[[nodiscard]] std::string overdue_sentence(std::string_view counter);
/// Nothing where the counter is open. Error: counter_closed.
[[nodiscard]] Result<void> judge_open(const StoredCounter& counter);
/// What an add to a closed counter hears.
[[nodiscard]] std::string closed_sentence(std::string_view counter, std::string_view place);

/// A counter without a key whose missing rows are an error has all its slots from the start.
[[nodiscard]] bool has_slots_at_once(const Rule& rule) noexcept;

}  // namespace splitcount::engine
