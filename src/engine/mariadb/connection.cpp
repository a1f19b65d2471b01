#include <engine/mariadb/connection.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <base/clock.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/errors.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr int answer_share = 4;  // of the time that is left, where that is short
constexpr int wait_s_max = 31'536'000;
constexpr double ms_per_s = 1000.0;

/// Whole seconds, rounded up, at least one.
int seconds_of(std::chrono::milliseconds time) {
  return static_cast<int>(std::clamp<std::int64_t>((time.count() + 999) / 1000, 1, wait_s_max));
}

bool is_in_transaction(MYSQL* handle) {
  unsigned status = 0;
  mariadb_get_infov(handle, MARIADB_CONNECTION_SERVER_STATUS, &status);
  return (status & SERVER_STATUS_IN_TRANS) != 0;
}

}  // namespace

Result<void> MariadbConnection::set_up(Deadline deadline) {
  deadline_ = deadline;
  auto done = run(shared_sql("session"));
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<void> MariadbConnection::begin(Deadline deadline) {
  deadline_ = deadline;
  is_lost_ = false;
  made_.clear();
  const auto left = std::min<std::chrono::milliseconds>(time_left(deadline), std::chrono::seconds(wait_s_max));
  const auto wait = std::max(left - std::min(answer_ms_max, left / answer_share), std::chrono::milliseconds(1));
  const std::array<Placeholder, 3> waits{
      Placeholder{"wait_s", fmt::format("{}", seconds_of(wait))},
      Placeholder{"wait_seconds", fmt::format("{:.3f}", static_cast<double>(wait.count()) / ms_per_s)},
      Placeholder{"idle_s", fmt::format("{}", seconds_of(left))}};
  auto begun = run(fill(statement(dialect, "begin"), waits));
  if (!begun) return fail(std::move(begun.error()));
  return {};
}

/// A commit that was not answered may have taken effect, and so may one that was interrupted.
Result<void> MariadbConnection::commit() {
  if (time_left(deadline_).count() == 0) {  // its answer would not be waited for
    rollback();
    return fail(ErrorCode::deadline_exceeded, "the deadline passed before the commit was sent, and nothing was changed");
  }
  if (is_lost_) {  // the server would answer that all is well
    rollback();
    return fail(ErrorCode::transaction_failed, "MariaDB rolled the transaction back, since a statement in it had failed");
  }
  auto committed = run(statement(dialect, "commit"));
  if (!committed) {
    Error error = std::move(committed.error());
    error.outcome_unknown = error.connection_dead || error.code == ErrorCode::transaction_failed ||
                            error.code == ErrorCode::database_busy;
    if (error.outcome_unknown) {
      healthy_ = false;
    } else {
      rollback();
    }
    return fail(std::move(error));
  }
  made_.clear();
  unlock_definitions();
  return {};
}

void MariadbConnection::rollback() noexcept {
  // It has no error of its own to tell: where it fails the connection is closed, which rolls back as well.
  if (!healthy_ || !run(statement(dialect, "rollback"))) healthy_ = false;
  // What a definition has created stays in MariaDB, so it is dropped again; where that fails the next one does it.
  if (!made_.empty() && healthy_) (void)clear_away(made_);
  made_.clear();
  unlock_definitions();
  is_lost_ = false;
}

bool MariadbConnection::healthy() const noexcept {
  return healthy_ && !is_in_transaction(handle_) && is_sound(handle_);
}

Answers MariadbConnection::send(std::string_view sql) {
  auto answers = mariadb::run(handle_, sql, deadline_, owned_ ? Whose::ours : Whose::callers);
  if (answers.error) answers.error = noted(std::move(*answers.error));
  return answers;
}

Result<Answer> MariadbConnection::run(std::string_view sql, const Values& values) {
  auto answers = send(values.into(sql));
  if (answers.error) return fail(std::move(*answers.error));
  return answers.answers.empty() ? Answer() : std::move(answers.answers.back());
}

Result<std::int64_t> MariadbConnection::change(std::string_view sql, const Values& values) {
  auto answers = send(values.into(sql));
  if (answers.error) return fail(std::move(*answers.error));
  return answers.changed;
}

Result<Answer> MariadbConnection::run_shared(std::string_view statement_name, const Values& values) {
  auto answer = run(shared_sql(statement_name), values);
  if (!answer && answer.error().code == ErrorCode::unknown_counter) answer.error().code = ErrorCode::not_installed;
  return answer;
}

Result<void> MariadbConnection::run_named(std::string_view statement_name) {
  auto done = run(statement(dialect, statement_name));
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<void> MariadbConnection::run_each(std::span<const std::string> texts) {
  for (const auto& text : texts) {
    if (auto done = run(text); !done) return fail(std::move(done.error()));
  }
  return {};
}

/// MariaDB does not say with an error whether the transaction is over, so it is asked. What our procedures refuse, and
/// what a full slot is refused with, never ends one.
Error MariadbConnection::noted(Error error) {
  if (error.connection_dead) {
    healthy_ = false;
    return error;
  }
  if (error.sqlstate.starts_with("SC")) return error;
  const auto asked = mariadb::run(handle_, statement(dialect, "in_transaction"), deadline_, owned_ ? Whose::ours : Whose::callers);
  if (asked.error || asked.answers.empty()) {
    mark_dead(error);
    healthy_ = false;
  } else if (!asked.answers.front().truth(0, 0)) {
    error.transaction_dead = true;
    is_lost_ = true;
  }
  return error;
}

}  // namespace splitcount::engine::mariadb
