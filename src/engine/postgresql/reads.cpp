#include <algorithm>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/postgresql/connection.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/quote.h>
#include <rule/amount.h>

namespace splitcount::engine::postgresql {
namespace {

std::string text_of(std::string_view name, const StoredCounter& counter) {
  return read_sql(name, counter.name, counter.rule, counter.schema);
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

std::string durability_of(std::string_view synchronous_commit) {
  if (synchronous_commit == "off") return "commits are synced later (synchronous_commit is off)";
  return fmt::format("synced commit (synchronous_commit is {})", synchronous_commit);
}

std::vector<std::string> warnings_of(const Answer& answer) {
  std::vector<std::string> warnings;
  if (answer.text(0, 2) == "off") {
    warnings.emplace_back("synchronous_commit is off: a crash of the server loses what it answered last; set it to on");
  }
  if (answer.text(0, 3) == "off") {
    warnings.emplace_back("fsync is off: a crash of the machine can damage this database; set it to on");
  }
  if (answer.text(0, 4) == "off") {
    warnings.emplace_back("full_page_writes is off: a crash of the machine can damage this database; set it to on");
  }
  if (answer.truth(0, 5)) warnings.emplace_back("this server is a standby, which can be read but not written");
  if (answer.text(0, 6) == "on") {
    warnings.emplace_back("default_transaction_read_only is on, so it cannot be written here");
  }
  return warnings;
}

}  // namespace

Result<std::optional<Total>> PostgresqlConnection::total(const StoredCounter& counter,
                                                         std::optional<std::string_view> key) {
  Parameters values;
  if (key) values.text(*key);
  const auto answer = run(text_of(key ? "total_of_key" : "total", counter), values);
  if (!answer) return fail(answer.error());
  if (answer->number(0, 1) == 0) return std::optional<Total>{};
  auto total = read_total(*answer, 0, counter, key ? std::optional(std::string(*key)) : std::nullopt);
  if (!total) return fail(std::move(total.error()));
  return std::optional(std::move(*total));
}

Result<std::vector<Total>> PostgresqlConnection::totals(const StoredCounter& counter,
                                                        std::span<const std::string> keys) {
  std::string wanted = "{";
  for (const auto& key : keys) append_element(wanted, key);
  const auto answer = run(text_of("totals", counter), Parameters().array(wanted + "}"));
  if (!answer) return fail(answer.error());
  if (static_cast<std::size_t>(answer->rows()) != keys.size()) {
    return fail(ErrorCode::internal, fmt::format("{} totals came back for {} keys", answer->rows(), keys.size()));
  }
  std::vector<Total> totals;
  totals.reserve(keys.size());
  for (int row = 0; row < answer->rows(); ++row) {
    auto total = read_total(*answer, row, counter, keys[static_cast<std::size_t>(row)]);
    if (!total) return fail(std::move(total.error()));
    totals.push_back(std::move(*total));
  }
  return totals;
}

Result<std::vector<Total>> PostgresqlConnection::top(const StoredCounter& counter, int n) {
  if (!counter.rule.key) {
    std::vector<Total> totals;
    auto only = total(counter, std::nullopt);
    if (!only) return fail(std::move(only.error()));
    if (*only && n > 0) totals.push_back(std::move(**only));
    return totals;
  }
  const auto answer = run(text_of("top", counter), Parameters().number(n));
  if (!answer) return fail(answer.error());
  return read_totals_by_key(*answer, counter);
}

Result<std::vector<Total>> PostgresqlConnection::totals_after(const StoredCounter& counter, std::string_view after,
                                                              int count) {
  const bool journal = counter.rule.layout == Layout::journal;
  const auto answer = run(text_of(journal ? "totals_after_journal" : "totals_after", counter),
                          Parameters().text(after).number(count));
  if (!answer) return fail(answer.error());
  return read_totals_by_key(*answer, counter);
}

Result<std::vector<Slot>> PostgresqlConnection::slots(const StoredCounter& counter, std::string_view key) {
  Parameters values;
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

Result<std::int64_t> PostgresqlConnection::keys(const StoredCounter& counter) {
  if (!counter.rule.key) return 0;
  const auto answer = run(text_of("keys", counter));
  if (!answer) return fail(answer.error());
  return answer->number(0, 0);
}

Result<Status> PostgresqlConnection::status() {
  Status status;
  status.engine = "postgresql";
  const auto version = schema_version();
  if (!version) return fail(version.error());
  status.schema_version = *version;
  const auto answer = run(std::string(statement(dialect, "status")));
  if (!answer) return fail(answer.error());
  status.engine_version = std::string(answer->text(0, 0));
  status.size_bytes = answer->number(0, 1);
  status.durability = durability_of(answer->text(0, 2));
  status.warnings = warnings_of(*answer);
  if (status.schema_version == 0) return status;
  if (auto looked = look_for_overdue(status); !looked) return fail(std::move(looked.error()));
  return status;
}

}  // namespace splitcount::engine::postgresql
