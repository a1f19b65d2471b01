// What SQLite's result codes mean to a caller. Classified by the extended code, never by message text.
#pragma once

#include <splitcount/error.h>

struct sqlite3;

namespace splitcount::engine::sqlite {

/// The error of the call that just failed on this handle with `code`. Error::native_code is the extended code.
[[nodiscard]] Error error_from(sqlite3* database, int code);

/// The code without its extension: SQLITE_BUSY of SQLITE_BUSY_SNAPSHOT.
[[nodiscard]] constexpr int primary_code(int code) noexcept { return code & 0xFF; }

}  // namespace splitcount::engine::sqlite
