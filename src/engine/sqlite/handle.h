// RAII for what SQLite hands out, and one use of a prepared statement.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <sqlite3.h>

#include <splitcount/error.h>

namespace splitcount::engine::sqlite {

struct CloseHandle {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};
using Handle = std::unique_ptr<sqlite3, CloseHandle>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// One statement. `persistent`: it will be kept.
[[nodiscard]] Result<Statement> prepare(sqlite3* database, std::string_view sql, bool persistent = false);

/// The next statement of several, and `script` after it; null at the end.
[[nodiscard]] Result<Statement> prepare_next(sqlite3* database, std::string_view& script);

/// Runs statements one after the other, up to the first that fails.
[[nodiscard]] Result<void> run_script(sqlite3* database, std::string_view sql);

/// One use of a prepared statement. It is reset at the end, since a statement left in the middle holds its snapshot
/// open. Texts are borrowed until then.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& bind(int index, std::int64_t number) noexcept;
  Query& bind(int index, std::string_view text) noexcept;
  Query& bind_blob(int index, std::string_view bytes) noexcept;
  Query& bind_null(int index) noexcept;

  /// True: there is a row to read. An error of a bind comes out here.
  [[nodiscard]] Result<bool> next();
  /// Steps to the end.
  [[nodiscard]] Result<void> run();
  /// Ready for other values.
  void again() noexcept { sqlite3_reset(statement_); }

  [[nodiscard]] std::int64_t number(int column) const noexcept { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] bool is_null(int column) const noexcept {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  /// Valid until the next step.
  [[nodiscard]] std::string_view text(int column) const noexcept;
  [[nodiscard]] std::string_view blob(int column) const noexcept;

 private:
  void note(int code) noexcept {
    if (bind_code_ == SQLITE_OK) bind_code_ = code;
  }
  sqlite3_stmt* statement_;
  int bind_code_ = SQLITE_OK;
};

}  // namespace splitcount::engine::sqlite
