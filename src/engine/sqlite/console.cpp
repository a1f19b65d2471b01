#include <engine/sqlite/console.h>

#include <algorithm>

#include <engine/sqlite/counter_sql.h>

namespace splitcount::engine::sqlite {
namespace {

Row row_of(const Query& query, sqlite3_stmt* statement) {
  Row row;
  for (int column = 0; column < sqlite3_column_count(statement); ++column) {
    if (query.is_null(column)) {
      row.emplace_back();
    } else {
      row.emplace_back(std::string(query.text(column)));
    }
  }
  return row;
}

Result<std::vector<Row>> rows_of(sqlite3_stmt* statement, std::span<const std::string> values) {
  Query query(statement);
  const auto taken = std::min(values.size(), static_cast<std::size_t>(sqlite3_bind_parameter_count(statement)));
  for (std::size_t i = 0; i < taken; ++i) query.bind(static_cast<int>(i) + 1, values[i]);
  std::vector<Row> rows;
  for (;;) {
    auto more = query.next();
    if (!more) return fail(std::move(more.error()));
    if (!*more) return rows;
    rows.push_back(row_of(query, statement));
  }
}

}  // namespace

Result<std::unique_ptr<SqliteConsole>> SqliteConsole::open(Handle handle, Deadline deadline) {
  std::unique_ptr<SqliteConsole> console(new SqliteConsole(std::move(handle)));
  console->busy_.attach(console->handle_.get());
  console->busy_.set_deadline(deadline);
  if (auto set = run_script(console->handle_.get(), shared_sql("settings")); !set) return fail(std::move(set.error()));
  return console;
}

Result<std::vector<Row>> SqliteConsole::ask(const std::string& sql, std::span<const std::string> values) {
  std::vector<Row> rows;
  for (std::string_view script = sql;;) {
    auto statement = prepare_next(handle_.get(), script);
    if (!statement) return fail(std::move(statement.error()));
    if (!*statement) return rows;
    auto answer = rows_of(statement->get(), values);
    if (!answer) return fail(std::move(answer.error()));
    rows = *std::move(answer);
  }
}

Result<std::size_t> SqliteConsole::prepare(const std::string& sql, std::size_t /*parameters*/) {
  std::vector<Statement> statements;
  for (std::string_view script = sql;;) {
    auto statement = prepare_next(handle_.get(), script);
    if (!statement) return fail(std::move(statement.error()));
    if (!*statement) break;
    statements.push_back(*std::move(statement));
  }
  prepared_.push_back(std::move(statements));
  return prepared_.size() - 1;
}

Result<bool> SqliteConsole::run(std::size_t prepared, std::span<const std::int64_t> numbers) {
  busy_.let_others_look();
  const auto waits = busy_.waits();
  for (const auto& statement : prepared_.at(prepared)) {
    Query query(statement.get());
    const auto taken = std::min(numbers.size(), static_cast<std::size_t>(sqlite3_bind_parameter_count(statement.get())));
    for (std::size_t i = 0; i < taken; ++i) query.bind(static_cast<int>(i) + 1, numbers[i]);
    if (auto done = query.run(); !done) {
      // Where it fails the next BEGIN says so.
      if (sqlite3_get_autocommit(handle_.get()) == 0) (void)run_script(handle_.get(), shared_sql("rollback"));
      return fail(std::move(done.error()));
    }
  }
  return busy_.waits() != waits;
}

}  // namespace splitcount::engine::sqlite
