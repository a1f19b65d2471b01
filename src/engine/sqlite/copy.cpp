// What moves a counter to another database.
#include <array>

#include <sys/stat.h>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/rule_row.h>
#include <engine/sqlite/connection.h>
#include <engine/sqlite/counter_sql.h>
#include <engine/sqlite/quote.h>

namespace splitcount::engine::sqlite {
namespace {

std::int64_t milliseconds_of(Instant instant) {
  return std::chrono::floor<std::chrono::milliseconds>(instant).time_since_epoch().count();
}

}  // namespace

/// The file itself: one that is reached by another link is the same.
Result<std::string> SqliteConnection::identity() {
  const char* path = sqlite3_db_filename(database_, "main");
  struct stat file {};
  if (path == nullptr || stat(path, &file) != 0) {
    return fail(ErrorCode::database_unavailable, "the database file cannot be looked at any more");
  }
  return fmt::format("sqlite {} {}", file.st_dev, file.st_ino);
}

Result<void> SqliteConnection::set_moved_to(const StoredCounter& counter, std::optional<std::string_view> place) {
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return current;
  const CounterSql sql(counter.name, counter.rule);
  // Last, and on their own: a place may look like a placeholder.
  const std::array<Placeholder, 2> values{
      Placeholder{"sentence", quote_text(fmt::format("{}: {}", error_code_name(ErrorCode::counter_closed),
                                                     closed_sentence(counter.name, place.value_or(""))))},
      Placeholder{"place", place ? quote_text(*place) : std::string("NULL")}};
  std::string script = fill(sql.text(place ? "close_counter" : "open_counter"), values);
  if (!place) script += "\n" + sql.text("add_trigger");
  script += "\n" + fill(sql.text("rule_moved"), values);
  if (auto done = run_script(database_, script); !done) return fail(noted(std::move(done.error())));
  return {};
}

Result<std::vector<RequestRow>> SqliteConnection::requests_after(const StoredCounter& counter, std::string_view after,
                                                                 int count) {
  std::vector<RequestRow> rows;
  if (!counter.rule.retries.once) return rows;
  auto statement = statements_.of(counter, "requests_after");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  query.bind(1, after).bind(3, count);
  if (counter.rule.retries.window) {
    query.bind(2, std::chrono::milliseconds(*counter.rule.retries.window).count());
  } else {
    query.bind_null(2);
  }
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), &counter));
    if (!*row) return rows;
    rows.push_back({std::string(query.text(0)), std::string(query.text(1)), query.number(2),
                    Instant(std::chrono::milliseconds(query.number(3)))});
  }
}

Result<std::int64_t> SqliteConnection::put_requests(const StoredCounter& counter, std::span<const RequestRow> requests) {
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (requests.empty()) return 0;
  auto statement = statements_.of(counter, "request_copy");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  std::int64_t put = 0;
  for (const auto& request : requests) {
    Query query(*statement);
    query.bind(1, std::string_view(request.key)).bind(2, std::string_view(request.request_id));
    query.bind(3, request.amount).bind(4, milliseconds_of(request.counted));
    if (auto done = query.run(); !done) return fail(explained(std::move(done.error()), &counter));
    put += sqlite3_changes64(database_);
  }
  return put;
}

Result<std::vector<std::optional<std::int64_t>>> SqliteConnection::copied(const StoredCounter& counter,
                                                                          std::span<const std::string> keys) {
  auto statement = statements_.shared("copied_read");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  std::vector<std::optional<std::int64_t>> totals;
  totals.reserve(keys.size());
  for (const auto& key : keys) {
    Query query(*statement);
    const auto row = query.bind(1, std::string_view(counter.name)).bind(2, std::string_view(key)).next();
    if (!row) return fail(explained(row.error(), &counter));
    totals.push_back(*row ? std::optional(query.number(0)) : std::nullopt);
  }
  return totals;
}

Result<void> SqliteConnection::put_copied(const StoredCounter& counter, std::span<const std::string> keys,
                                          std::span<const std::int64_t> totals) {
  auto statement = statements_.shared("copied_write");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Query query(*statement);
    query.bind(1, std::string_view(counter.name)).bind(2, std::string_view(keys[i])).bind(3, totals[i]);
    if (auto done = query.run(); !done) return fail(explained(std::move(done.error()), &counter));
  }
  return {};
}

Result<std::int64_t> SqliteConnection::forget_copied(const StoredCounter& counter, std::int64_t count) {
  auto statement = statements_.shared("copied_forget");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  query.bind(1, std::string_view(counter.name)).bind(2, count);
  if (auto done = query.run(); !done) return fail(explained(std::move(done.error()), &counter));
  return sqlite3_changes64(database_);
}

}  // namespace splitcount::engine::sqlite
