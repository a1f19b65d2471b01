// What moves a counter to another database.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <engine/postgresql/connection.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/quote.h>
#include <engine/rule_row.h>

namespace splitcount::engine::postgresql {
namespace {

/// The tables that adds write, in the order in which an add takes them.
std::vector<std::string> written_tables(const StoredCounter& counter) {
  std::vector<std::string> tables;
  if (counter.rule.retries.once) tables.push_back(counter.name + "_requests");
  if (counter.rule.layout == Layout::journal) tables.push_back(counter.name + "_deltas");
  tables.push_back(counter.name + "_slots");
  return tables;
}

/// What the statements about request ids need beside names.
std::string requests_sql(std::string_view name, const StoredCounter& counter) {
  const auto& rule = counter.rule;
  const std::string key = rule.key ? quote_name(*rule.key) : std::string();
  std::string in_window;
  if (rule.retries.window) {
    const std::array<Placeholder, 1> window{Placeholder{"window_number", fmt::format("{}", rule.retries.window->count())}};
    in_window = " " + fill(statement(dialect, "in_window"), window);
  }
  const std::array<Placeholder, 4> values{
      Placeholder{"key_or_empty", rule.key ? key : std::string("''")}, Placeholder{"in_window", in_window},
      Placeholder{"copied_key", rule.key ? "_key, " : ""},
      Placeholder{"copied_key_update", rule.key ? fmt::format("{0} = excluded.{0}, ", key) : std::string()}};
  return fill(counter_sql(name, counter.name, rule, counter.schema), values);
}

std::string numbers_of(std::span<const std::int64_t> numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ",")); }

}  // namespace

Result<std::string> PostgresqlConnection::identity() {
  const auto answer = run(std::string(statement(dialect, "identity")));
  if (!answer) return fail(answer.error());
  return fmt::format("postgresql {} {}", answer->text(0, 0), answer->text(0, 1));
}

Result<void> PostgresqlConnection::set_moved_to(const StoredCounter& counter, std::optional<std::string_view> place) {
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return current;
  const auto sentence = fmt::format("{}: {}", error_code_name(ErrorCode::counter_closed),
                                    closed_sentence(counter.name, place.value_or("")));
  const auto run_with = [&](std::string_view name, const std::string& table) -> Result<void> {
    const std::array<Placeholder, 3> values{Placeholder{"table", quote_name(table)},
                                            Placeholder{"sentence", quote_text(sentence)},
                                            Placeholder{"place", place ? quote_text(*place) : std::string("NULL")}};
    auto done = run(fill(counter_sql(name, counter.name, counter.rule, counter.schema), values));
    if (!done) return fail(std::move(done.error()));
    return {};
  };
  for (const auto& table : written_tables(counter)) {
    if (auto done = run_with(place ? "close_table" : "open_table", table); !done) return done;
  }
  return run_with("rule_moved", {});
}

Result<std::vector<RequestRow>> PostgresqlConnection::requests_after(const StoredCounter& counter,
                                                                     std::string_view after, int count) {
  std::vector<RequestRow> rows;
  if (!counter.rule.retries.once) return rows;
  const auto answer = run(requests_sql("requests_after", counter), Parameters().text(after).number(count));
  if (!answer) return fail(answer.error());
  for (int row = 0; row < answer->rows(); ++row) {
    rows.push_back({std::string(answer->text(row, 0)), std::string(answer->text(row, 1)), answer->number(row, 2),
                    Instant(std::chrono::microseconds(answer->number(row, 3)))});
  }
  return rows;
}

Result<std::int64_t> PostgresqlConnection::put_requests(const StoredCounter& counter,
                                                        std::span<const RequestRow> requests) {
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (requests.empty()) return 0;
  std::vector<std::string> ids;
  std::vector<std::string> keys;
  std::vector<std::int64_t> amounts;
  std::vector<std::int64_t> times;
  for (const auto& request : requests) {
    ids.push_back(request.request_id);
    keys.push_back(request.key);
    amounts.push_back(request.amount);
    times.push_back(request.counted.time_since_epoch().count());
  }
  Parameters values;
  values.array(array_of(ids)).array(array_of(keys)).array(numbers_of(amounts)).array(numbers_of(times));
  const auto put = run(requests_sql("requests_copy", counter), values);
  if (!put) return fail(put.error());
  return put->changed();
}

Result<std::vector<std::optional<std::int64_t>>> PostgresqlConnection::copied(const StoredCounter& counter,
                                                                              std::span<const std::string> keys) {
  const auto answer = run_shared("copied", Parameters().text(counter.name).array(array_of(keys)));
  if (!answer) return fail(answer.error());
  if (static_cast<std::size_t>(answer->rows()) != keys.size()) {
    return fail(ErrorCode::internal, fmt::format("{} notes came back for {} keys", answer->rows(), keys.size()));
  }
  std::vector<std::optional<std::int64_t>> totals;
  totals.reserve(keys.size());
  for (int row = 0; row < answer->rows(); ++row) {
    totals.push_back(answer->is_null(row, 0) ? std::nullopt : std::optional(answer->number(row, 0)));
  }
  return totals;
}

Result<void> PostgresqlConnection::put_copied(const StoredCounter& counter, std::span<const std::string> keys,
                                              std::span<const std::int64_t> totals) {
  Parameters values;
  values.text(counter.name).array(array_of(keys)).array(numbers_of(totals));
  auto done = run_shared("copied_write", values);
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<std::int64_t> PostgresqlConnection::forget_copied(const StoredCounter& counter, std::int64_t count) {
  const auto done = run_shared("copied_forget", Parameters().text(counter.name).number(count));
  if (!done) return fail(done.error());
  return done->changed();
}

}  // namespace splitcount::engine::postgresql
