#include <engine/sqlite/connection.h>

#include <engine/sqlite/counter_sql.h>

namespace splitcount::engine::sqlite {

SqliteConnection::SqliteConnection(Handle owned, sqlite3* database)
    : owned_(std::move(owned)), database_(database), statements_(database) {}

std::unique_ptr<SqliteConnection> SqliteConnection::own(Handle handle) {
  sqlite3* const database = handle.get();
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(std::move(handle), database));
  connection->busy_.attach(database);
  return connection;
}

std::unique_ptr<SqliteConnection> SqliteConnection::borrow(sqlite3* handle) {
  return std::unique_ptr<SqliteConnection>(new SqliteConnection(nullptr, handle));
}

Result<void> SqliteConnection::prepare_database(bool create, Deadline deadline) {
  busy_.set_deadline(deadline);
  if (auto set = run_script(database_, shared_sql("settings")); !set) return set;
  const auto version = schema_version();
  if (!version) return fail(version.error());
  if (create && *version == 0 && !is_read_only()) return set_wal(deadline);
  return {};
}

/// The change of mode needs the file for itself; whoever is in the way is waited for, until the deadline.
Result<void> SqliteConnection::set_wal(Deadline deadline) {
  for (int tries = 0;; ++tries) {
    auto changed = word("journal_mode_wal");
    if (changed) return {};  // a file system that cannot do it leaves the mode as it was; status() tells
    const bool busy = changed.error().code == ErrorCode::database_busy;
    if (!busy || Deadline::clock::now() >= deadline || !busy_.wait(tries)) return fail(std::move(changed.error()));
  }
}

Result<void> SqliteConnection::begin(Deadline deadline) {
  busy_.set_deadline(deadline);
  // SQLite would begin one that only reads, and refuse the first write.
  if (is_read_only()) return fail(error_from(database_, SQLITE_READONLY));
  busy_.let_others_look();
  for (int tries = 0;; ++tries) {
    auto begun = run("begin");
    // Some busy answers (a WAL that is being recovered) come past the busy handler.
    if (begun) return begun;
    rollback();  // an interrupt can be reported although the transaction has begun
    if (begun.error().code != ErrorCode::database_busy || !busy_.wait(tries)) return begun;
  }
}

/// What SQLite leaves behind where COMMIT fails:
/// - BUSY (rollback journal only: a reader is in the way): nothing was written, the transaction is still open. It is
///   tried again until the deadline, then rolled back.
/// - FULL: the commit frame is the last thing written to the WAL, so without room for it there is no commit, and a
///   frame that was cut off does not match its checksum. In rollback mode the journal undoes the pages. Rolled back.
/// - IOERR: in WAL mode the commit frame may have been written, whole, before the sync failed. No other connection sees
///   it now, but a recovery after a crash would find it and replay it, unless the next commit has overwritten it. In
///   rollback mode the journal's removal is the commit, and may have happened. So nobody can know: outcome_unknown.
/// - anything else (an interrupt, no memory): the transaction is over in either way, so nobody can know either, unless
///   it is still open.
Result<void> SqliteConnection::commit() {
  for (int tries = 0;; ++tries) {
    auto committed = run("commit");
    if (committed) return {};
    Error error = std::move(committed.error());
    if (error.code == ErrorCode::database_busy && in_transaction() && busy_.wait(tries)) continue;
    const bool undone = in_transaction() || error.code == ErrorCode::disk_full;
    rollback();
    if (!undone || error.code == ErrorCode::io_error) {
      error.outcome_unknown = true;
      error.connection_dead = true;
    }
    return fail(std::move(error));
  }
}

void SqliteConnection::rollback() noexcept {
  if (!in_transaction()) return;
  // It has no error of its own to tell: where it fails the connection is closed, which rolls back as well.
  if (!run("rollback") && in_transaction()) healthy_ = false;
}

Result<void> SqliteConnection::run(std::string_view statement_name) {
  auto statement = statements_.shared(statement_name);
  if (!statement) return fail(noted(std::move(statement.error())));
  auto done = Query(*statement).run();
  if (!done) return fail(noted(std::move(done.error())));
  return {};
}

Result<std::int64_t> SqliteConnection::number(std::string_view statement_name) {
  auto statement = statements_.shared(statement_name);
  if (!statement) return fail(noted(std::move(statement.error())));
  Query query(*statement);
  auto row = query.next();
  if (!row) return fail(noted(std::move(row.error())));
  return *row ? query.number(0) : 0;
}

Result<std::string> SqliteConnection::word(std::string_view statement_name) {
  auto statement = statements_.shared(statement_name);
  if (!statement) return fail(noted(std::move(statement.error())));
  Query query(*statement);
  auto row = query.next();
  if (!row) return fail(noted(std::move(row.error())));
  return *row ? std::string(query.text(0)) : std::string();
}

Error SqliteConnection::noted(Error error) {
  // SQLite ends a transaction by itself where it cannot undo one statement alone (an interrupt, no memory, no room).
  if (owned_ == nullptr && !in_transaction()) error.transaction_dead = true;
  switch (error.code) {
    case ErrorCode::io_error:
    case ErrorCode::not_a_database:
    case ErrorCode::database_corrupt:
      healthy_ = false;
      error.connection_dead = owned_ != nullptr;
      break;
    default: break;
  }
  return error;
}

Error SqliteConnection::explained(Error error, const StoredCounter* counter) {
  error = noted(std::move(error));
  if (primary_code(error.native_code) != SQLITE_ERROR || error.code != ErrorCode::internal) return error;
  if (auto schema = check_schema(); !schema) return std::move(schema.error());
  if (counter == nullptr) return error;
  if (auto current = check_current(*counter, ErrorCode::unknown_counter); !current) return std::move(current.error());
  if (auto whole = check_objects(*counter); !whole) return std::move(whole.error());
  return error;
}

}  // namespace splitcount::engine::sqlite
