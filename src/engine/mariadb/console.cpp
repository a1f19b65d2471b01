#include <engine/mariadb/console.h>

#include <charconv>

#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/quote.h>

namespace splitcount::engine::mariadb {
namespace {

/// `sql` with the Nth literal for each ?N; a ? that names none stays.
std::string with_literals(std::string_view sql, std::span<const std::string> literals) {
  std::string out;
  for (const char* next = sql.data(), *end = next + sql.size(); next != end;) {
    std::size_t number = 0;
    const char* behind = *next == '?' ? std::from_chars(next + 1, end, number).ptr : next;
    if (number == 0 || number > literals.size()) {
      out += *next++;
    } else {
      out += literals[number - 1];
      next = behind;
    }
  }
  return out;
}

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

Result<std::unique_ptr<MariadbConsole>> MariadbConsole::open(Handle handle, Deadline deadline) {
  std::unique_ptr<MariadbConsole> console(new MariadbConsole(std::move(handle)));
  console->deadline_ = deadline;
  if (auto begun = console->ask(shared_sql("session")); !begun) return fail(std::move(begun.error()));
  return console;
}

Result<std::vector<Row>> MariadbConsole::ask(const std::string& sql, std::span<const std::string> values) {
  std::vector<std::string> literals;
  for (const auto& value : values) literals.push_back(quote_bytes(value));
  auto answers = send(with_literals(sql, literals));
  if (answers.error) return fail(std::move(*answers.error));
  return answers.answers.empty() ? std::vector<Row>() : rows_of(answers.answers.back());
}

Result<std::size_t> MariadbConsole::prepare(const std::string& sql, std::size_t /*parameters*/) {
  texts_.push_back(sql);
  return texts_.size() - 1;
}

Result<bool> MariadbConsole::run(std::size_t prepared, std::span<const std::int64_t> numbers) {
  std::vector<std::string> literals;
  for (const auto number : numbers) literals.push_back(std::to_string(number));
  auto answers = send(with_literals(texts_.at(prepared), literals));
  if (answers.error) {
    // Where it fails the connection is of no more use, which the next statement says.
    (void)send(statement(dialect, "rollback"));
    return fail(std::move(*answers.error));
  }
  return false;
}

}  // namespace splitcount::engine::mariadb
