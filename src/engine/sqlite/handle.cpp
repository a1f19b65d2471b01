#include <engine/sqlite/handle.h>

#include <engine/sqlite/errors.h>

namespace splitcount::engine::sqlite {
namespace {

Result<Statement> prepare_first(sqlite3* database, std::string_view& sql, unsigned flags) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), flags, &statement, &tail);
  if (code != SQLITE_OK) return fail(error_from(database, code));
  sql.remove_prefix(static_cast<std::size_t>(tail - sql.data()));
  return Statement(statement);
}

/// SQLite takes a null pointer for NULL, also with length 0.
const char* data_of(std::string_view bytes) noexcept { return bytes.data() == nullptr ? "" : bytes.data(); }

}  // namespace

Result<Statement> prepare(sqlite3* database, std::string_view sql, bool persistent) {
  return prepare_first(database, sql, persistent ? SQLITE_PREPARE_PERSISTENT : 0U);
}

Result<Statement> prepare_next(sqlite3* database, std::string_view& script) {
  while (!script.empty()) {
    auto statement = prepare_first(database, script, 0U);
    if (!statement || *statement) return statement;  // a comment is no statement
  }
  return Statement();
}

Result<void> run_script(sqlite3* database, std::string_view sql) {
  for (;;) {
    auto statement = prepare_next(database, sql);
    if (!statement) return fail(std::move(statement.error()));
    if (!*statement) return {};
    if (auto done = Query(statement->get()).run(); !done) return done;
  }
}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(int index, std::int64_t number) noexcept {
  note(sqlite3_bind_int64(statement_, index, number));
  return *this;
}

Query& Query::bind(int index, std::string_view text) noexcept {
  note(sqlite3_bind_text64(statement_, index, data_of(text), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Query& Query::bind_blob(int index, std::string_view bytes) noexcept {
  note(sqlite3_bind_blob64(statement_, index, data_of(bytes), bytes.size(), SQLITE_STATIC));
  return *this;
}

Query& Query::bind_null(int index) noexcept {
  note(sqlite3_bind_null(statement_, index));
  return *this;
}

Result<bool> Query::next() {
  const int code = bind_code_ == SQLITE_OK ? sqlite3_step(statement_) : bind_code_;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(error_from(sqlite3_db_handle(statement_), code));
}

Result<void> Query::run() {
  for (;;) {
    auto row = next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return {};
  }
}

std::string_view Query::text(int column) const noexcept {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string_view Query::blob(int column) const noexcept {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

}  // namespace splitcount::engine::sqlite
