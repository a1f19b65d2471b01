// What moves a counter to another database.
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/quote.h>
#include <engine/rule_row.h>

namespace splitcount::engine::mariadb {
namespace {

/// The server waits at least a second for a table, and is heard of also where the deadline is nearer.
constexpr std::chrono::milliseconds definition_answer_ms{5'000};
constexpr std::size_t message_characters_max = 128;

std::string of_characters(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins && characters++ == most) return std::string(text.substr(0, i));
  }
  return std::string(text);
}

/// The tables that adds write, in the order in which an add takes them.
std::vector<std::string> written_tables(const StoredCounter& counter) {
  std::vector<std::string> tables;
  if (counter.rule.retries.once) tables.push_back(counter.name + "_requests");
  if (counter.rule.layout == Layout::journal) tables.push_back(counter.name + "_deltas");
  tables.push_back(counter.name + "_slots");
  return tables;
}

/// What the statements about request ids need beside names.
std::string requests_sql(std::string_view name, const StoredCounter& counter, std::string_view placeholder, std::string list) {
  const auto& rule = counter.rule;
  const std::string key = rule.key ? quote_name(*rule.key) : std::string();
  std::string in_window;
  if (rule.retries.window) {
    const std::array<Placeholder, 1> window{Placeholder{"window_number", fmt::format("{}", rule.retries.window->count())}};
    in_window = " " + fill(statement(dialect, "in_window"), window);
  }
  const std::array<Placeholder, 3> values{
      Placeholder{"key_or_empty", rule.key ? key : std::string("''")}, Placeholder{"in_window", in_window},
      Placeholder{"copied_key_update",
                  rule.key ? counter_sql("copied_key_update", counter.name, rule) + "\n" : std::string()}};
  const std::array<Placeholder, 1> rows{Placeholder{std::string(placeholder), std::move(list)}};
  return fill(fill(counter_sql(name, counter.name, rule), values), rows);
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

}  // namespace

Result<std::string> MariadbConnection::identity() {
  const auto answer = run(statement(dialect, "identity"));
  if (!answer) return fail(answer.error());
  return fmt::format("mariadb {} {} {} {}", answer->text(0, 0), answer->text(0, 1), answer->text(0, 2), answer->text(0, 3));
}

Result<void> MariadbConnection::set_triggers(const StoredCounter& counter, std::optional<std::string_view> place) {
  const auto sentence = of_characters(fmt::format("{}: {} has moved to {}", error_code_name(ErrorCode::counter_closed),
                                                  counter.name, place.value_or("")),
                                      message_characters_max);
  for (const auto& table : written_tables(counter)) {
    const std::array<Placeholder, 4> values{Placeholder{"closed_insert", quote_name(table + "_closed_insert")},
                                            Placeholder{"closed_update", quote_name(table + "_closed_update")},
                                            Placeholder{"table", quote_name(table)},
                                            Placeholder{"sentence", "_utf8mb4 " + quote_bytes(sentence)}};
    auto done = run(fill(statement(dialect, place ? "close_table" : "open_table"), values));
    if (!done) return fail(std::move(done.error()));
  }
  return {};
}

Result<void> MariadbConnection::set_moved_to(const StoredCounter& counter, std::optional<std::string_view> place) {
  const Deadline deadline = deadline_;
  deadline_ = std::max(deadline, Deadline::clock::now() + definition_answer_ms);
  auto done = lock_definitions();
  if (done) done = check_current(counter, ErrorCode::unknown_counter);
  if (done) {
    done = set_triggers(counter, place);
    if (!done && place) (void)set_triggers(counter, std::nullopt);  // it goes on counting
  }
  if (done) done = run_named("go_on");
  if (done) {
    const std::array<Placeholder, 1> value{Placeholder{"place", place ? quote_bytes(*place) : std::string("NULL")}};
    auto written = run(fill(counter_sql("rule_moved", counter.name, counter.rule), value));
    if (!written) done = fail(std::move(written.error()));
  }
  deadline_ = deadline;
  return done;
}

Result<std::vector<RequestRow>> MariadbConnection::requests_after(const StoredCounter& counter, std::string_view after,
                                                                  int count) {
  std::vector<RequestRow> rows;
  if (!counter.rule.retries.once) return rows;
  const auto answer = run(requests_sql("requests_after", counter, "rows_max", fmt::format("{}", count)), Values().text(after));
  if (!answer) return fail(answer.error());
  for (int row = 0; row < answer->rows(); ++row) {
    rows.push_back({std::string(answer->text(row, 0)), std::string(answer->text(row, 1)), answer->number(row, 2),
                    Instant(std::chrono::microseconds(answer->number(row, 3)))});
  }
  return rows;
}

/// One that is written over counts as two.
Result<std::int64_t> MariadbConnection::put_requests(const StoredCounter& counter, std::span<const RequestRow> requests) {
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (requests.empty()) return 0;
  const auto one = counter_sql("request_given", counter.name, counter.rule);
  std::vector<std::string> rows;
  for (const auto& request : requests) {
    Values values;
    if (counter.rule.key) values.text(request.key);
    values.text(request.request_id).number(request.amount).number(request.counted.time_since_epoch().count());
    rows.push_back(values.into(one));
  }
  return change(requests_sql("requests_copy", counter, "rows_given", joined(rows)));
}

Result<std::vector<std::optional<std::int64_t>>> MariadbConnection::copied(const StoredCounter& counter,
                                                                           std::span<const std::string> keys) {
  std::vector<std::optional<std::int64_t>> totals(keys.size());
  if (keys.empty()) return totals;
  std::vector<std::string> wanted;
  for (const auto& key : keys) wanted.push_back(quote_bytes(key));
  const auto answer = run(list_sql("copied", counter.name, counter.rule, "keys", joined(wanted)), Values().text(counter.name));
  if (!answer) return fail(answer.error());
  std::map<std::string_view, std::int64_t> known;
  for (int row = 0; row < answer->rows(); ++row) known.emplace(answer->text(row, 0), answer->number(row, 1));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto found = known.find(keys[i]); found != known.end()) totals[i] = found->second;
  }
  return totals;
}

Result<void> MariadbConnection::put_copied(const StoredCounter& counter, std::span<const std::string> keys,
                                           std::span<const std::int64_t> totals) {
  if (keys.empty()) return {};
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows.push_back(fmt::format("({}, {}, {})", quote_bytes(counter.name), quote_bytes(keys[i]), totals[i]));
  }
  auto done = run(list_sql("copied_write", counter.name, counter.rule, "rows_given", joined(rows)));
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<std::int64_t> MariadbConnection::forget_copied(const StoredCounter& counter, std::int64_t count) {
  return change(list_sql("copied_forget", counter.name, counter.rule, "rows_max", fmt::format("{}", count)),
                Values().text(counter.name));
}

}  // namespace splitcount::engine::mariadb
