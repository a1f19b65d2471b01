#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/quote.h>
#include <rule/amount.h>

namespace splitcount::engine::mariadb {
namespace {

std::string text_of(std::string_view name, const StoredCounter& counter) {
  return counter_sql(name, counter.name, counter.rule);
}

/// The columns of every statement that sums: the total, which may have more than 64 bits, the rows, the clock in
/// microseconds.
Result<Total> read_total(const Answer& answer, int row, const StoredCounter& counter, std::optional<std::string> key) {
  const auto sum = rule::parse_whole(answer.text(row, 0));
  if (!sum) {
    return fail(ErrorCode::out_of_range,
                fmt::format("the total of {}{} is outside signed 64 bits; its slots can be read one by one",
                            quoted(counter.name), key ? fmt::format(" for {}", quoted(*key)) : std::string()));
  }
  Total total;
  total.key = std::move(key);
  total.total = *sum;
  total.slots = answer.number(row, 1);
  total.as_of = Instant(std::chrono::microseconds(answer.number(row, 2)));
  return total;
}

/// The key stands behind what every sum has.
Result<std::vector<Total>> read_totals_by_key(const Answer& answer, const StoredCounter& counter) {
  std::vector<Total> totals;
  for (int row = 0; row < answer.rows(); ++row) {
    auto total = read_total(answer, row, counter, std::string(answer.text(row, 3)));
    if (!total) return fail(std::move(total.error()));
    totals.push_back(std::move(*total));
  }
  return totals;
}

/// innodb_flush_log_at_trx_commit.
std::string durability_of(std::string_view flush) {
  if (flush == "1") return "synced commit (innodb_flush_log_at_trx_commit is 1)";
  if (flush == "3") return "synced commit (innodb_flush_log_at_trx_commit is 3)";
  return fmt::format("commits are synced later (innodb_flush_log_at_trx_commit is {})", flush);
}

std::vector<std::string> warnings_of(const Answer& answer) {
  std::vector<std::string> warnings;
  const auto flush = answer.text(0, 2);
  if (flush != "1" && flush != "3") {
    warnings.push_back(fmt::format("innodb_flush_log_at_trx_commit is {}: a crash of {} loses what was answered last; set it to 1",
                                   flush, flush == "0" ? "the server" : "the machine"));
  }
  if (answer.text(0, 3) == "0") {
    warnings.emplace_back("innodb_doublewrite is off: a crash of the machine can damage this database; set it to on");
  }
  if (answer.truth(0, 4)) warnings.emplace_back("read_only is on, so this server can be read but not written");
  if (answer.truth(0, 5)) {
    warnings.emplace_back("innodb_rollback_on_timeout is on: a slot that somebody holds is waited for instead of another one taken; "
                          "set it to off");
  }
  if (answer.truth(0, 6) && answer.text(0, 7) != "1") {
    warnings.push_back(fmt::format("sync_binlog is {}: after a crash of the machine its replicas may have counted more than "
                                   "this server, or less; set it to 1",
                                   answer.text(0, 7)));
  }
  return warnings;
}

}  // namespace

Result<std::optional<Total>> MariadbConnection::total(const StoredCounter& counter, std::optional<std::string_view> key) {
  Values values;
  if (key) values.text(*key);
  const auto answer = run(text_of(key ? "total_of_key" : "total", counter), values);
  if (!answer) return fail(answer.error());
  if (answer->number(0, 1) == 0) return std::optional<Total>{};
  auto total = read_total(*answer, 0, counter, key ? std::optional(std::string(*key)) : std::nullopt);
  if (!total) return fail(std::move(total.error()));
  return std::optional(std::move(*total));
}

Result<std::vector<Total>> MariadbConnection::totals(const StoredCounter& counter, std::span<const std::string> keys) {
  std::vector<Total> totals;
  if (keys.empty()) return totals;
  std::string wanted;
  for (const auto& key : keys) wanted += fmt::format("{}{}", wanted.empty() ? "" : ", ", quote_bytes(key));
  const auto answer = run(list_sql("totals", counter.name, counter.rule, "keys", std::move(wanted)));
  if (!answer) return fail(answer.error());
  std::map<std::string_view, int> row_of;
  for (int row = 0; row < answer->rows(); ++row) row_of.emplace(answer->text(row, 3), row);
  // Keys without rows are as old as the others; where no key has any, the clock has to be asked.
  auto as_of = answer->rows() > 0 ? Result<std::int64_t>(answer->number(0, 2)) : Result<std::int64_t>(0);
  if (answer->rows() == 0) {
    const auto now = run(text_of("now", counter));
    if (!now) return fail(now.error());
    as_of = now->number(0, 0);
  }
  for (const auto& key : keys) {
    const auto found = row_of.find(key);
    if (found == row_of.end()) {
      Total none;
      none.key = key;
      none.as_of = Instant(std::chrono::microseconds(*as_of));
      totals.push_back(std::move(none));
      continue;
    }
    auto total = read_total(*answer, found->second, counter, key);
    if (!total) return fail(std::move(total.error()));
    totals.push_back(std::move(*total));
  }
  return totals;
}

Result<std::vector<Total>> MariadbConnection::top(const StoredCounter& counter, int n) {
  if (!counter.rule.key) {
    std::vector<Total> totals;
    auto only = total(counter, std::nullopt);
    if (!only) return fail(std::move(only.error()));
    if (*only && n > 0) totals.push_back(std::move(**only));
    return totals;
  }
  const auto answer = run(list_sql("top", counter.name, counter.rule, "rows_max", fmt::format("{}", n)));
  if (!answer) return fail(answer.error());
  return read_totals_by_key(*answer, counter);
}

Result<std::vector<Total>> MariadbConnection::totals_after(const StoredCounter& counter, std::string_view after, int count) {
  const auto answer = run(list_sql("totals_after", counter.name, counter.rule, "rows_max", fmt::format("{}", count)),
                          Values().text(after));
  if (!answer) return fail(answer.error());
  return read_totals_by_key(*answer, counter);
}

Result<std::vector<Slot>> MariadbConnection::slots(const StoredCounter& counter, std::string_view key) {
  Values values;
  if (counter.rule.key) values.text(key);
  const auto answer = run(text_of(counter.rule.key ? "slots_of_key" : "slots", counter), values);
  if (!answer) return fail(answer.error());
  std::vector<Slot> slots;
  for (int row = 0; row < answer->rows(); ++row) {
    const int slot = static_cast<int>(answer->number(row, 0));
    const auto n = rule::parse_whole(answer->text(row, 1));
    if (!n) {
      return fail(ErrorCode::out_of_range, fmt::format("slot {} of {} is outside signed 64 bits together with what is "
                                                       "pending",
                                                       slot, quoted(counter.name)));
    }
    slots.push_back({slot, *n});
  }
  return slots;
}

Result<std::int64_t> MariadbConnection::keys(const StoredCounter& counter) {
  if (!counter.rule.key) return 0;
  const auto answer = run(text_of("keys", counter));
  if (!answer) return fail(answer.error());
  return answer->number(0, 0);
}

Result<Status> MariadbConnection::status() {
  Status status;
  status.engine = "mariadb";
  const auto version = schema_version();
  if (!version) return fail(version.error());
  status.schema_version = *version;
  const auto answer = run(statement(dialect, "status"));
  if (!answer) return fail(answer.error());
  status.engine_version = std::string(answer->text(0, 0));
  status.size_bytes = answer->number(0, 1);
  status.durability = durability_of(answer->text(0, 2));
  status.warnings = warnings_of(*answer);
  if (status.schema_version == 0) return status;
  if (auto looked = look_for_overdue(status); !looked) return fail(std::move(looked.error()));
  return status;
}

}  // namespace splitcount::engine::mariadb
