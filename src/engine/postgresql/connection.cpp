#include <engine/postgresql/connection.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include <base/clock.h>
#include <engine/postgresql/counter_sql.h>

namespace splitcount::engine::postgresql {

namespace {

constexpr int answer_share = 4;  // of the time that is left, where that is short

/// A setting of the server in milliseconds.
std::string setting(std::chrono::milliseconds time, std::chrono::milliseconds least) {
  constexpr std::chrono::milliseconds most{std::numeric_limits<int>::max()};
  return std::to_string(std::clamp(time, least, most).count());
}

}  // namespace

/// READ COMMITTED whatever the server's default is: it is what our own transactions are made for.
Result<void> PostgresqlConnection::begin(Deadline deadline) {
  deadline_ = deadline;
  const auto left = time_left(deadline);
  const auto wait = left - std::min(answer_ms_max, left / answer_share);
  const std::array<Placeholder, 2> waits{Placeholder{"wait_ms", setting(wait, std::chrono::milliseconds(1))},
                                         Placeholder{"idle_ms", setting(left, idle_ms_min)}};
  auto begun = run(fill(statement(dialect, "begin"), waits));
  if (!begun) return fail(std::move(begun.error()));
  return {};
}

/// A commit that was not answered may have taken effect, and so may one that the server's end interrupted: it waits for
/// standbys after the commit is on its disk.
Result<void> PostgresqlConnection::commit() {
  if (time_left(deadline_).count() == 0) {  // its answer would not be waited for
    rollback();
    return fail(ErrorCode::deadline_exceeded, "the deadline passed before the commit was sent, and nothing was changed");
  }
  auto committed = run(std::string(statement(dialect, "commit")));
  if (!committed) {
    Error error = std::move(committed.error());
    error.outcome_unknown = error.connection_dead;
    if (!error.connection_dead) rollback();
    return fail(std::move(error));
  }
  if (committed->tag() == statement(dialect, "commit")) return {};
  return fail(ErrorCode::transaction_failed, "PostgreSQL rolled the transaction back, since a statement in it had failed");
}

void PostgresqlConnection::rollback() noexcept {
  const auto status = PQtransactionStatus(handle_);
  if (status == PQTRANS_IDLE) return;
  const bool can = status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
  // It has no error of its own to tell: where it fails the connection is closed, which rolls back as well.
  if (!can || !run(std::string(statement(dialect, "rollback")))) healthy_ = false;
}

bool PostgresqlConnection::healthy() const noexcept {
  return healthy_ && PQtransactionStatus(handle_) == PQTRANS_IDLE && is_sound(handle_);
}

Result<Answer> PostgresqlConnection::run(const std::string& sql) {
  auto answer = postgresql::run(handle_, sql, deadline_);
  if (!answer) return fail(noted(std::move(answer.error())));
  return answer;
}

Result<Answer> PostgresqlConnection::run(const std::string& sql, const Parameters& parameters) {
  auto answer = postgresql::run(handle_, sql, parameters, deadline_);
  if (!answer) return fail(noted(std::move(answer.error())));
  return answer;
}

Result<Answer> PostgresqlConnection::run_to_its_limit(const std::string& sql, const Parameters& parameters) {
  const auto limit = Deadline::clock::now() + std::chrono::seconds(function_wait_s_max) + answer_ms_max;
  auto answer = postgresql::run(handle_, sql, parameters, std::max(deadline_, limit));
  if (!answer) return fail(noted(std::move(answer.error())));
  return answer;
}

Result<Answer> PostgresqlConnection::run_shared(std::string_view statement_name, const Parameters& parameters) {
  if (auto found = find_schema(); !found) return fail(std::move(found.error()));
  auto answer = run(shared_sql(statement_name, schema_), parameters);
  if (!answer && answer.error().code == ErrorCode::unknown_counter) {  // the shared table has gone
    schema_.clear();
    answer.error().code = ErrorCode::not_installed;
  }
  return answer;
}

Result<void> PostgresqlConnection::run_named(std::string_view statement_name) {
  auto done = run(std::string(statement(dialect, statement_name)));
  if (!done) return fail(std::move(done.error()));
  return {};
}

Error PostgresqlConnection::noted(Error error) {
  if (error.connection_dead) healthy_ = false;
  return error;
}

}  // namespace splitcount::engine::postgresql
