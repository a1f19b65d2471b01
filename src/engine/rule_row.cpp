#include <engine/rule_row.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <base/limits.h>
#include <base/text.h>
#include <rule/rule.h>

namespace splitcount::engine {
namespace {

Result<Rule> read_words(const RuleRow& row, const rule::EngineTraits& traits) {
  Rule rule;
  if (row.key_column) rule.key = std::string(*row.key_column);
  rule.slots = static_cast<int>(row.slots);
  const auto pick = rule::parse_pick(row.pick);
  if (!pick) return fail(pick.error());
  rule.pick = *pick;
  const auto missing = rule::parse_missing(row.missing);
  if (!missing) return fail(missing.error());
  rule.missing = *missing;
  rule.retries.once = row.retries == "once";
  if (row.window_seconds) rule.retries.window = std::chrono::seconds(*row.window_seconds);
  const auto freshness = rule::parse_freshness(row.freshness);
  if (!freshness) return fail(freshness.error());
  rule.freshness = *freshness;
  const auto layout = rule::parse_layout(row.layout);
  if (!layout) return fail(layout.error());
  rule.layout = *layout;
  if (auto checked = rule::check(rule, traits); !checked) return fail(std::move(checked.error()));
  return rule;
}

}  // namespace

Result<Rule> read_rule(const RuleRow& row, const rule::EngineTraits& traits) {
  auto rule = read_words(row, traits);
  if (!rule) {
    rule.error().message =
        fmt::format("the rule of {} in splitcount_counters: {}", quoted(row.name), rule.error().message);
  }
  return rule;
}

Result<void> judge_current(const StoredCounter& counter, std::optional<bool> is_current, ErrorCode gone) {
  if (is_current.value_or(false)) return {};
  Error error;
  error.code = is_current ? ErrorCode::rule_changed : gone;
  error.retryable = error.code == ErrorCode::rule_changed;
  error.message = is_current
                      ? fmt::format("the rule of counter {} was changed meanwhile; read it again", quoted(counter.name))
                      : fmt::format("the counter {} was dropped meanwhile", quoted(counter.name));
  return fail(std::move(error));
}

Result<void> judge_objects(const StoredCounter& counter, std::span<const std::string> missing) {
  if (missing.empty()) return {};
  return fail(ErrorCode::database_corrupt,
              fmt::format("the counter {} is not whole: {} {} gone; restore what is missing from a backup, or drop the counter "
                          "and define it anew, which begins at 0",
                          quoted(counter.name), fmt::join(missing, ", "), missing.size() == 1 ? "has" : "have"));
}

std::string overdue_sentence(std::string_view counter) {
  return fmt::format("{0} has more than {1} adds that are not in their slots yet; run `splitcount maintain {0}` now, and "
                     "from a timer",
                     counter, grouped(limits::journal_deltas_overdue));
}

Result<void> judge_open(const StoredCounter& counter) {
  if (!counter.moved_to) return {};
  return fail(ErrorCode::counter_closed, closed_sentence(counter.name, *counter.moved_to));
}

std::string closed_sentence(std::string_view counter, std::string_view place) {
  return fmt::format("the counter {} is closed, since it has moved to {}; count there", quoted(counter), place);
}

bool has_slots_at_once(const Rule& rule) noexcept { return !rule.key && rule.missing == Missing::error; }

}  // namespace splitcount::engine
