#include <fmt/format.h>

#include <base/text.h>
#include <engine/sqlite/connection.h>
#include <engine/sqlite/engine.h>
#include <rule/rule.h>

namespace splitcount::engine::sqlite {
namespace {

std::int64_t milliseconds_of(Instant instant) {
  return std::chrono::floor<std::chrono::milliseconds>(instant).time_since_epoch().count();
}

/// The columns of the statements `counter` and `counters`. A row may have been written by hand.
Result<Rule> read_rule(const Query& row) {
  Rule rule;
  if (!row.is_null(2)) rule.key = std::string(row.text(2));
  rule.slots = static_cast<int>(row.number(3));
  const auto pick = rule::parse_pick(row.text(4));
  if (!pick) return fail(pick.error());
  rule.pick = *pick;
  const auto missing = rule::parse_missing(row.text(5));
  if (!missing) return fail(missing.error());
  rule.missing = *missing;
  rule.retries.once = row.text(6) == "once";
  if (!row.is_null(7)) rule.retries.window = std::chrono::seconds(row.number(7));
  const auto freshness = rule::parse_freshness(row.text(8));
  if (!freshness) return fail(freshness.error());
  rule.freshness = *freshness;
  const auto layout = rule::parse_layout(row.text(9));
  if (!layout) return fail(layout.error());
  rule.layout = *layout;
  if (auto checked = rule::check(rule, traits()); !checked) return fail(std::move(checked.error()));
  return rule;
}

Result<StoredCounter> read_counter(const Query& row) {
  StoredCounter counter;
  counter.name = std::string(row.text(0));
  counter.version = row.number(1);
  counter.created_at = Instant(std::chrono::milliseconds(row.number(10)));
  auto rule = read_rule(row);
  if (!rule) {
    Error error = std::move(rule.error());
    error.message = fmt::format("the rule of {} in splitcount_counters: {}", quoted(counter.name), error.message);
    return fail(std::move(error));
  }
  counter.rule = std::move(*rule);
  return counter;
}

}  // namespace

Result<std::optional<StoredCounter>> SqliteConnection::find(std::string_view name) {
  if (auto schema = check_schema(); !schema) return fail(std::move(schema.error()));
  auto statement = statements_.shared("counter");
  if (!statement) return fail(explained(std::move(statement.error()), nullptr));
  Query query(*statement);
  const auto row = query.bind(1, name).next();
  if (!row) return fail(explained(row.error(), nullptr));
  if (!*row) return std::optional<StoredCounter>{};
  auto counter = read_counter(query);
  if (!counter) return fail(std::move(counter.error()));
  return std::optional(std::move(*counter));
}

Result<std::vector<StoredCounter>> SqliteConnection::list() {
  if (auto schema = check_schema(); !schema) return fail(std::move(schema.error()));
  auto statement = statements_.shared("counters");
  if (!statement) return fail(explained(std::move(statement.error()), nullptr));
  Query query(*statement);
  std::vector<StoredCounter> counters;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), nullptr));
    if (!*row) return counters;
    auto counter = read_counter(query);
    if (!counter) return fail(std::move(counter.error()));
    counters.push_back(std::move(*counter));
  }
}

/// The version alone would do, but that an uninstall starts it anew: the time of creation is compared as well.
Result<void> SqliteConnection::check_current(const StoredCounter& counter, ErrorCode gone) {
  auto statement = statements_.shared("counter_is_current");
  if (!statement) return fail(explained(std::move(statement.error()), nullptr));
  Query query(*statement);
  query.bind(1, std::string_view(counter.name)).bind(2, counter.version).bind(3, milliseconds_of(counter.created_at));
  const auto row = query.next();
  if (!row) return fail(explained(row.error(), nullptr));
  if (*row && query.number(0) == 1) return {};
  Error error;
  error.code = *row ? ErrorCode::rule_changed : gone;
  error.retryable = error.code == ErrorCode::rule_changed;
  error.message = *row
                      ? fmt::format("the rule of counter {} was changed meanwhile; read it again", quoted(counter.name))
                      : fmt::format("the counter {} was dropped meanwhile", quoted(counter.name));
  return fail(std::move(error));
}

}  // namespace splitcount::engine::sqlite
