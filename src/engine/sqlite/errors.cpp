#include <engine/sqlite/errors.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include <base/text.h>

namespace splitcount::engine::sqlite {
namespace {

constexpr std::size_t shown_bytes_max = 200;

/// "the database "/srv/app.db"", or without a name where it has no file.
std::string named(sqlite3* database) {
  const char* path = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  if (path == nullptr || *path == '\0') return "the database";
  return fmt::format("the database {}", quoted(path, shown_bytes_max));
}

Error made(ErrorCode code, int native_code, std::string message) {
  Error error;
  error.code = code;
  error.native_code = native_code;
  error.message = std::move(message);
  return error;
}

Error busy(int code, const std::string& name) {
  Error error = made(ErrorCode::database_busy, code,
                     fmt::format("{} was locked by another session for as long as this could wait; try again", name));
  if (code == SQLITE_BUSY_SNAPSHOT) {
    error.message = fmt::format(
        "another session wrote to {} after this transaction had begun to read; roll back and "
        "begin again, with BEGIN IMMEDIATE",
        name);
    error.code = ErrorCode::serialization_failure;
    error.transaction_dead = true;  // sent again in this transaction it would fail for ever
  } else if (primary_code(code) == SQLITE_LOCKED) {
    error.message = fmt::format("a statement that is still open on this connection locks {}; end it first", name);
  }
  error.retryable = true;
  return error;
}

Error unexpected(sqlite3* database, int code, const std::string& name) {
  const char* said = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  return made(ErrorCode::internal, code,
              fmt::format("{} answered {} (SQLite code {})", name, quoted(said, shown_bytes_max), code));
}

}  // namespace

Error error_from(sqlite3* database, int code) {
  // A borrowed handle may not be set to extended codes, and is left as it is.
  if (database != nullptr && code == primary_code(code)) {
    const int extended = sqlite3_extended_errcode(database);
    if (primary_code(extended) == code) code = extended;
  }
  const std::string name = named(database);
  switch (primary_code(code)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // lost the race for the WAL's locks again and again
      return busy(code, name);
    case SQLITE_READONLY:
      return made(ErrorCode::read_only, code, fmt::format("{} can be read but not written here", name));
    case SQLITE_PERM:
    case SQLITE_AUTH: return made(ErrorCode::permission_denied, code, fmt::format("{} may not be used for this", name));
    case SQLITE_CANTOPEN:
      return made(
          ErrorCode::database_unavailable, code,
          fmt::format("{} or the files beside it cannot be opened; are its folder and files there, and may this "
                      "user write them?",
                      name));
    case SQLITE_NOTADB:
      return made(ErrorCode::not_a_database, code, fmt::format("{} is a file, but no SQLite database", name));
    case SQLITE_CORRUPT:
      return made(ErrorCode::database_corrupt, code,
                  fmt::format("{} is damaged; the integrity_check of SQLite says where", name));
    case SQLITE_FULL: return made(ErrorCode::disk_full, code, fmt::format("{} cannot grow: no room is left", name));
    case SQLITE_IOERR:
      return made(ErrorCode::io_error, code,
                  fmt::format("the operating system failed to read, write or sync {} (SQLite code {}, system error {})",
                              name, code, database == nullptr ? 0 : sqlite3_system_errno(database)));
    case SQLITE_INTERRUPT: {
      Error error = made(ErrorCode::transaction_failed, code, fmt::format("work on {} was interrupted", name));
      error.retryable = true;
      return error;
    }
    default: return unexpected(database, code, name);
  }
}

}  // namespace splitcount::engine::sqlite
