// What PostgreSQL's SQLSTATEs mean to a caller. Classified by the state, never by message text.
#pragma once

#include <string_view>

#include <libpq-fe.h>

#include <splitcount/error.h>

namespace splitcount::engine::postgresql {

/// The error of a statement that the server refused. transaction_dead and connection_dead are the connection's to say.
[[nodiscard]] Error error_from(const PGresult* result);

/// The connection broke, or is given up, while a statement was on its way. `why`: empty where libpq knows.
[[nodiscard]] Error lost_connection(PGconn* connection, std::string_view why);

/// No connection came about. `said`: libpq's message with SQLSTATEs (PQERRORS_VERBOSE); empty: the deadline passed.
[[nodiscard]] Error not_connected(std::string_view name, std::string_view said);

/// The server asks for a password, and nobody gave one.
[[nodiscard]] Error password_missing(std::string_view name);

/// Turns an error into one after which the connection can only be closed.
void mark_dead(Error& error) noexcept;

/// The code that a SQLSTATE stands for.
[[nodiscard]] ErrorCode code_of(std::string_view sqlstate) noexcept;

}  // namespace splitcount::engine::postgresql
