#include <engine/sqlite/handle.h>

#include <engine/sqlite/errors.h>

namespace splitcount::engine::sqlite {
namespace {

struct Prepared {
  Statement statement;  // null at the end of the text
  std::string_view rest;
};

Result<Prepared> prepare_first(sqlite3* database, std::string_view sql, unsigned flags) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), flags, &statement, &tail);
  if (code != SQLITE_OK) return fail(error_from(database, code));
  return Prepared{Statement(statement), sql.substr(static_cast<std::size_t>(tail - sql.data()))};
}

/// SQLite takes a null pointer for NULL, also with length 0.
const char* data_of(std::string_view bytes) noexcept { return bytes.data() == nullptr ? "" : bytes.data(); }

}  // namespace

Result<Statement> prepare(sqlite3* database, std::string_view sql, bool persistent) {
  auto prepared = prepare_first(database, sql, persistent ? SQLITE_PREPARE_PERSISTENT : 0U);
  if (!prepared) return fail(std::move(prepared.error()));
  return std::move(prepared->statement);
}

Result<void> run_script(sqlite3* database, std::string_view sql) {
  while (!sql.empty()) {
    auto prepared = prepare_first(database, sql, 0U);
    if (!prepared) return fail(std::move(prepared.error()));
    sql = prepared->rest;
    if (!prepared->statement) continue;
    if (auto done = Query(prepared->statement.get()).run(); !done) return done;
  }
  return {};
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
