#include <engine/sqlite/connection.h>
#include <engine/sqlite/engine.h>
#include <engine/rule_row.h>

namespace splitcount::engine::sqlite {
namespace {

std::int64_t milliseconds_of(Instant instant) {
  return std::chrono::floor<std::chrono::milliseconds>(instant).time_since_epoch().count();
}

/// The columns of the statements `counter` and `counters`.
Result<StoredCounter> read_counter(const Query& row) {
  RuleRow words;
  words.name = row.text(0);
  if (!row.is_null(2)) words.key_column = row.text(2);
  words.slots = row.number(3);
  words.pick = row.text(4);
  words.missing = row.text(5);
  words.retries = row.text(6);
  if (!row.is_null(7)) words.window_seconds = row.number(7);
  words.freshness = row.text(8);
  words.layout = row.text(9);
  auto rule = read_rule(words, traits());
  if (!rule) return fail(std::move(rule.error()));
  StoredCounter counter;
  counter.name = std::string(words.name);
  counter.version = row.number(1);
  counter.rule = std::move(*rule);
  counter.created_at = Instant(std::chrono::milliseconds(row.number(10)));
  if (!row.is_null(11)) counter.moved_to = std::string(row.text(11));
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
  const auto is_current = *row ? std::optional(query.number(0) == 1) : std::nullopt;
  return judge_current(counter, is_current, gone);
}

}  // namespace splitcount::engine::sqlite
