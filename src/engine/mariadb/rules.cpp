#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/engine.h>
#include <engine/rule_row.h>

namespace splitcount::engine::mariadb {
namespace {

/// The columns of the statements `counter` and `counters`.
Result<StoredCounter> read_counter(const Answer& answer, int row) {
  RuleRow words;
  words.name = answer.text(row, 0);
  if (!answer.is_null(row, 2)) words.key_column = answer.text(row, 2);
  words.slots = answer.number(row, 3);
  words.pick = answer.text(row, 4);
  words.missing = answer.text(row, 5);
  words.retries = answer.text(row, 6);
  if (!answer.is_null(row, 7)) words.window_seconds = answer.number(row, 7);
  words.freshness = answer.text(row, 8);
  words.layout = answer.text(row, 9);
  auto rule = read_rule(words, traits());
  if (!rule) return fail(std::move(rule.error()));
  StoredCounter counter;
  counter.name = std::string(words.name);
  counter.version = answer.number(row, 1);
  counter.rule = std::move(*rule);
  counter.created_at = Instant(std::chrono::microseconds(answer.number(row, 10)));
  if (!answer.is_null(row, 11)) counter.moved_to = std::string(answer.text(row, 11));
  return counter;
}

}  // namespace

Result<std::optional<StoredCounter>> MariadbConnection::find(std::string_view name) {
  if (auto schema = check_schema(); !schema) return fail(std::move(schema.error()));
  const auto answer = run_shared("counter", Values().text(name));
  if (!answer) return fail(answer.error());
  if (answer->rows() == 0) return std::optional<StoredCounter>{};
  auto counter = read_counter(*answer, 0);
  if (!counter) return fail(std::move(counter.error()));
  return std::optional(std::move(*counter));
}

Result<std::vector<StoredCounter>> MariadbConnection::list() {
  if (auto schema = check_schema(); !schema) return fail(std::move(schema.error()));
  const auto answer = run_shared("counters");
  if (!answer) return fail(answer.error());
  std::vector<StoredCounter> counters;
  for (int row = 0; row < answer->rows(); ++row) {
    auto counter = read_counter(*answer, row);
    if (!counter) return fail(std::move(counter.error()));
    counters.push_back(std::move(*counter));
  }
  return counters;
}

Result<void> MariadbConnection::check_current(const StoredCounter& counter, ErrorCode gone) {
  Values values;
  values.number(counter.version).number(counter.created_at.time_since_epoch().count()).text(counter.name);
  const auto answer = run_shared("counter_is_current", values);
  if (!answer) return fail(answer.error());
  const auto is_current = answer->rows() == 0 ? std::nullopt : std::optional(answer->truth(0, 0));
  return judge_current(counter, is_current, gone);
}

}  // namespace splitcount::engine::mariadb
