// What MariaDB's error numbers mean to a caller. Classified by the number (SQLSTATE is HY000 for most), or by our own
// SQLSTATEs, never by message text.
#pragma once

#include <string_view>

#include <mysql.h>

#include <splitcount/error.h>

namespace splitcount::engine::mariadb {

/// Whether an error ended the whole transaction is the connection's to say, since the server does not.
[[nodiscard]] Error error_from(MYSQL* handle);

/// The connection is given up while a statement was on its way.
[[nodiscard]] Error lost_connection(std::string_view why);

/// No connection came about; `handle` says why.
[[nodiscard]] Error not_connected(std::string_view name, MYSQL* handle);
/// None came about until the deadline.
[[nodiscard]] Error not_answered(std::string_view name);

/// Turns an error into one after which the connection can only be closed.
void mark_dead(Error& error) noexcept;

/// Of the server's errors and of the client's.
[[nodiscard]] ErrorCode code_of(unsigned number, std::string_view sqlstate) noexcept;

}  // namespace splitcount::engine::mariadb
