// What a failed operation says: one stable code, one sentence, and the answers to the four questions
// that a caller can act on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include <splitcount/export.h>

namespace splitcount {

/// The stable list of error codes. Append only: the name (error_code_name) is the "code" in JSON.
enum class ErrorCode : std::uint16_t {
  // What the caller gave
  invalid_argument = 1,    ///< an argument that no other code describes better
  amount_invalid,          ///< an amount that is not -?digits within signed 64 bits
  value_invalid,           ///< a missing, unwanted or malformed value of the pick `value`
  key_invalid,             ///< a key that is empty, too long, not UTF-8, holds NUL, is missing or not wanted
  name_invalid,            ///< a counter's or key column's name that is malformed or reserved
  rule_invalid,            ///< a rule out of range or one that contradicts itself
  request_id_invalid,      ///< a request id that is empty, longer than 128 bytes or not UTF-8
  config_invalid,          ///< splitcount.toml or a DSN that cannot be read
  file_unreadable,         ///< an input file that is not there or cannot be read
  // What the database holds
  unknown_counter,         ///< no counter of that name
  rule_differs,            ///< define of an existing counter with another rule
  name_clash,              ///< the counter's objects would clash with what is already there
  key_missing,             ///< missing = error, and this key was never defined
  slot_missing,            ///< a slot outside the rule, or one that was never created
  out_of_range,            ///< a slot or a total would leave signed 64 bits
  request_id_refused,      ///< a request id for a counter that counts every retry
  request_conflict,        ///< a known request id with another key or amount
  request_in_flight,       ///< another session holds this request id open; retryable
  stream_conflict,         ///< another sender has moved this stream
  rule_changed,            ///< the rule was changed while the add was on its way; retryable
  not_on_this_engine,      ///< a rule or an operation that this engine does not do
  not_installed,           ///< this database has no counters yet
  schema_too_new,          ///< a newer splitcount wrote this database
  // Trouble
  database_unavailable,    ///< cannot be opened or reached
  not_a_database,          ///< a file that is no database
  database_corrupt,        ///< the database reports that it is damaged, or objects of a counter have gone
  database_busy,           ///< locked by others beyond the timeout; retryable
  read_only,               ///< the database cannot be written
  permission_denied,       ///< the role lacks a right
  disk_full,               ///< no room left
  io_error,                ///< the operating system failed a read, a write or a sync
  no_transaction,          ///< the caller's handle has no open transaction
  transaction_failed,      ///< the caller's transaction is dead and must be rolled back
  serialization_failure,   ///< the transaction lost against another one; retryable
  deadlock,                ///< the transaction was chosen as a deadlock's victim; retryable
  connection_lost,         ///< the connection broke; retryable unless the outcome is unknown
  deadline_exceeded,       ///< the deadline passed and nothing was changed
  queue_full,              ///< a named bound was reached and nothing was taken; retryable
  outcome_unknown,         ///< nobody can say yet whether it was committed
  internal,                ///< a fault of splitcount's own
  counter_closed,          ///< the counter has moved to another database, which the message names
};

/// The name of a code as it stands in JSON, e.g. "slot_missing".
[[nodiscard]] SPLITCOUNT_EXPORT std::string_view error_code_name(ErrorCode code) noexcept;

/// What went wrong, in one sentence that says what was wrong, where, and what would be right.
struct Error {
  ErrorCode code{};
  std::string message;           ///< one sentence, without a full stop at its end, no secrets
  std::string sqlstate{};        ///< five characters, empty where the engine gave none
  int native_code = 0;           ///< the engine's own number, 0 where there is none
  bool retryable = false;        ///< the same call may succeed when sent again
  bool transaction_dead = false; ///< the caller's transaction can only be rolled back
  bool connection_dead = false;  ///< the connection must be closed
  bool outcome_unknown = false;  ///< it may or may not have been committed
};

/// Thrown by Result::value_or_throw only.
class SPLITCOUNT_EXPORT ErrorException : public std::runtime_error {
 public:
  explicit ErrorException(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// A value or an Error. A class of its own because [[nodiscard]] does not reach through an alias.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;

  /// The value; throws ErrorException where there is none.
  T value_or_throw() && {
    if (!this->has_value()) throw ErrorException(std::move(this->error()));
    if constexpr (!std::is_void_v<T>) return std::move(**this);
  }
};

/// Short for returning an error: `return fail(ErrorCode::key_invalid, "...")`.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace splitcount
