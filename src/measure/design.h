// The ways to count that are tried against each other.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/error.h>
#include <splitcount/rule.h>

#include <rule/rule.h>

namespace splitcount::measure {

struct Design {
  std::string name;
  std::string what;             ///< in a few words
  // Its statements in sql/<dialect>:
  std::string_view create;      ///< its tables; empty for a counter of ours, which the rule creates
  std::string_view add;
  std::string_view total;
  std::optional<Rule> rule{};   ///< a counter of ours; unset: tables made by hand
  int slots = 1;                ///< rows that share the count
  int adds = 1;                 ///< that one transaction of it does
  bool folds = false;           ///< a session of its own folds meanwhile
};

/// One number without a key, all of whose slots are there from the start.
[[nodiscard]] Rule rule_with(Pick pick, int slots);

/// Inserts and counts nothing: what the others are measured against.
[[nodiscard]] Design limit();
/// A counter of ours by a rule without a key.
[[nodiscard]] Design counter(std::string name, std::string what, const Rule& rule);
/// The same with limits::trial_batch_adds adds in one transaction.
[[nodiscard]] Design batched(Design counter);

/// All ways that an engine has, the limit first; ours with that many slots.
[[nodiscard]] std::vector<Design> designs(const rule::EngineTraits& engine, int slots);

/// Those of `all` that are named "one_row,session,...", in the order of `all`, and the limit in any case. Error:
/// invalid_argument, which lists the names.
[[nodiscard]] Result<std::vector<Design>> select(const std::vector<Design>& all, std::string_view names);

}  // namespace splitcount::measure
