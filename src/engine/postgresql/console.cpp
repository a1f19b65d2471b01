#include <engine/postgresql/console.h>

#include <string>

#include <fmt/format.h>

#include <engine/postgresql/counter_sql.h>

namespace splitcount::engine::postgresql {
namespace {

std::string name_of(std::size_t prepared) { return fmt::format("splitcount_{}", prepared); }

std::vector<Row> rows_of(const Answer& answer) {
  std::vector<Row> rows;
  for (int row = 0; row < answer.rows(); ++row) {
    Row cells;
    for (int column = 0; column < answer.columns(); ++column) {
      if (answer.is_null(row, column)) {
        cells.emplace_back();
      } else {
        cells.emplace_back(std::string(answer.text(row, column)));
      }
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> PostgresqlConsole::ask(const std::string& sql, std::span<const std::string> values) {
  Parameters parameters;
  for (const auto& value : values) parameters.array(value);  // text form: the server makes of it what it needs
  auto answer = values.empty() ? postgresql::run(handle_.get(), sql, deadline_)
                               : postgresql::run(handle_.get(), sql, parameters, deadline_);
  if (!answer) return fail(std::move(answer.error()));
  return rows_of(*answer);
}

Result<std::size_t> PostgresqlConsole::prepare(const std::string& sql, std::size_t parameters) {
  auto done = postgresql::prepare(handle_.get(), name_of(prepared_), sql, parameters, deadline_);
  if (!done) return fail(std::move(done.error()));
  return prepared_++;
}

Result<bool> PostgresqlConsole::run(std::size_t prepared, std::span<const std::int64_t> numbers) {
  Parameters parameters;
  for (const auto number : numbers) parameters.number(number);
  auto answer = postgresql::run_prepared(handle_.get(), name_of(prepared), parameters, deadline_);
  if (!answer) {
    end_transaction();
    return fail(std::move(answer.error()));
  }
  return false;
}

void PostgresqlConsole::end_transaction() noexcept {
  const auto status = PQtransactionStatus(handle_.get());
  if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR) return;
  // Where it fails the connection is of no more use, which the next statement says.
  (void)ask(std::string(statement(dialect, "rollback")));
}

}  // namespace splitcount::engine::postgresql
