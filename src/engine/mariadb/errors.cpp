#include <engine/mariadb/errors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <errmsg.h>
#include <fmt/format.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr std::size_t shown_bytes_max = 300;
constexpr std::string_view own_states = "SC";

/// Sources: MariaDB's list of error codes; MySQL's for those that only its servers send.
constexpr auto meanings = std::to_array<std::pair<unsigned, ErrorCode>>({
    {1213, ErrorCode::deadlock},
    {1614, ErrorCode::deadlock},                // in a branch of an XA transaction
    {1020, ErrorCode::serialization_failure},   // the row is newer than the snapshot (innodb_snapshot_isolation)
    {1205, ErrorCode::database_busy},           // a lock was waited for long enough
    {1969, ErrorCode::database_busy},           // max_statement_time, which is how long we wait
    {3024, ErrorCode::database_busy},           // MySQL: max_execution_time
    {3572, ErrorCode::database_busy},           // MySQL: NOWAIT
    {1040, ErrorCode::database_busy},           // too many connections
    {1203, ErrorCode::database_busy},           // the user has too many connections
    {1226, ErrorCode::database_busy},           // the user has used up something
    {1317, ErrorCode::transaction_failed},      // KILL QUERY
    {1402, ErrorCode::transaction_failed},      // an XA transaction that was rolled back
    {1180, ErrorCode::transaction_failed},      // the commit failed
    {1021, ErrorCode::disk_full},
    {1041, ErrorCode::disk_full},
    {1114, ErrorCode::disk_full},               // the table is full
    {1290, ErrorCode::read_only},               // --read-only
    {1792, ErrorCode::read_only},               // START TRANSACTION READ ONLY
    {1836, ErrorCode::read_only},
    {1044, ErrorCode::permission_denied},
    {1045, ErrorCode::permission_denied},
    {1142, ErrorCode::permission_denied},
    {1143, ErrorCode::permission_denied},
    {1227, ErrorCode::permission_denied},
    {1370, ErrorCode::permission_denied},
    {1419, ErrorCode::permission_denied},       // a trigger, with the binary log on and without SUPER
    {1449, ErrorCode::permission_denied},       // the owner of the routine has gone
    {1698, ErrorCode::permission_denied},
    {1049, ErrorCode::database_unavailable},    // no database of that name
    {1046, ErrorCode::database_unavailable},    // no database chosen
    {1050, ErrorCode::name_clash},
    {1304, ErrorCode::name_clash},
    {1146, ErrorCode::unknown_counter},         // a table that has gone
    {1305, ErrorCode::unknown_counter},         // a routine that has gone
    {1356, ErrorCode::unknown_counter},         // a view whose table has gone
    {1264, ErrorCode::out_of_range},
    {1690, ErrorCode::out_of_range},
    {1034, ErrorCode::database_corrupt},
    {1194, ErrorCode::database_corrupt},
    {1712, ErrorCode::database_corrupt},
    {1030, ErrorCode::io_error},
    {1026, ErrorCode::io_error},
    {1053, ErrorCode::connection_lost},         // shutting down
    {1927, ErrorCode::connection_lost},         // KILL CONNECTION
    {1047, ErrorCode::connection_lost},         // a node that is not ready
    {4031, ErrorCode::connection_lost},         // MySQL: idle for too long
    {CR_SERVER_GONE_ERROR, ErrorCode::connection_lost},
    {CR_SERVER_LOST, ErrorCode::connection_lost},
    {CR_SERVER_LOST_EXTENDED, ErrorCode::connection_lost},
    {CR_COMMANDS_OUT_OF_SYNC, ErrorCode::connection_lost},
    {CR_CONN_HOST_ERROR, ErrorCode::database_unavailable},
    {CR_CONNECTION_ERROR, ErrorCode::database_unavailable},
    {CR_UNKNOWN_HOST, ErrorCode::database_unavailable},
});

/// After these the server has closed the connection, or is about to.
bool ends_connection(unsigned number) {
  return number == 1053 || number == 1927 || number == 4031 || number == CR_SERVER_GONE_ERROR ||
         number == CR_SERVER_LOST || number == CR_SERVER_LOST_EXTENDED || number == CR_COMMANDS_OUT_OF_SYNC;
}

/// What the server's own words are about.
std::string_view introduction(ErrorCode code) {
  switch (code) {
    case ErrorCode::permission_denied: return "the role lacks a right (docs/mariadb.md lists what it needs)";
    case ErrorCode::read_only: return "MariaDB only reads here";
    case ErrorCode::database_busy: return "others held a lock for longer than this waits";
    case ErrorCode::disk_full: return "MariaDB has no room left";
    default: return "MariaDB answered";
  }
}

bool is_retryable(ErrorCode code) {
  switch (code) {
    case ErrorCode::serialization_failure:
    case ErrorCode::deadlock:
    case ErrorCode::database_busy:
    case ErrorCode::connection_lost:
    case ErrorCode::transaction_failed:
    case ErrorCode::request_in_flight: return true;
    default: return false;
  }
}

/// One line without a full stop.
std::string sentence(std::string_view said) {
  while (!said.empty() && std::string_view(" \n\r\t.").find(said.back()) != std::string_view::npos) said.remove_suffix(1);
  std::string out;
  for (const char c : said.substr(0, shown_bytes_max)) out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return out;
}

Error made(unsigned number, std::string_view sqlstate, std::string message) {
  Error error;
  error.code = code_of(number, sqlstate);
  error.sqlstate = std::string(sqlstate);
  error.native_code = static_cast<int>(number);
  error.message = std::move(message);
  error.retryable = is_retryable(error.code);
  return error;
}

}  // namespace

ErrorCode code_of(unsigned number, std::string_view sqlstate) noexcept {
  if (sqlstate.starts_with(own_states)) {  // SC and the code's number
    int code = 0;
    std::from_chars(sqlstate.data() + own_states.size(), sqlstate.data() + sqlstate.size(), code);
    if (code >= 1 && code <= static_cast<int>(ErrorCode::counter_closed)) return static_cast<ErrorCode>(code);
  }
  const auto* found = std::find_if(meanings.begin(), meanings.end(), [number](const auto& one) { return one.first == number; });
  return found == meanings.end() ? ErrorCode::internal : found->second;
}

Error error_from(MYSQL* handle) {
  const unsigned number = mysql_errno(handle);
  const std::string_view sqlstate = mysql_sqlstate(handle);
  const std::string_view said = mysql_error(handle);
  if (ends_connection(number)) {
    Error error = made(number, sqlstate, fmt::format("the connection to MariaDB broke: {}", sentence(said)));
    mark_dead(error);
    return error;
  }
  if (sqlstate.starts_with(own_states)) {  // a sentence of ours, after its code's name
    const auto colon = said.find(": ");
    return made(number, sqlstate, sentence(colon == std::string_view::npos ? said : said.substr(colon + 2)));
  }
  return made(number, sqlstate,
              fmt::format("{}: {} (error {})", introduction(code_of(number, sqlstate)), sentence(said), number));
}

void mark_dead(Error& error) noexcept {
  error.connection_dead = true;
  error.transaction_dead = true;
  if (error.code == ErrorCode::internal) error.code = ErrorCode::connection_lost;
  error.retryable = error.retryable || error.code == ErrorCode::connection_lost;
}

Error lost_connection(std::string_view why) {
  Error error = made(CR_SERVER_LOST, "08S01", fmt::format("the connection to MariaDB broke: {}", why));
  mark_dead(error);
  return error;
}

Error not_connected(std::string_view name, MYSQL* handle) {
  const unsigned number = mysql_errno(handle);
  Error error = made(number, mysql_sqlstate(handle), {});
  const bool not_reached = number >= CR_MIN_ERROR && number <= CR_MAX_ERROR;
  error.message = not_reached ? fmt::format("{} cannot be reached: {}", name, sentence(mysql_error(handle)))
                              : fmt::format("{} cannot be used: {} (error {})", name, sentence(mysql_error(handle)), number);
  if (not_reached || error.code == ErrorCode::internal || error.code == ErrorCode::connection_lost) {
    error.code = ErrorCode::database_unavailable;
  }
  error.retryable = not_reached || error.retryable;
  return error;
}

Error not_answered(std::string_view name) {
  Error error = made(CR_CONNECTION_ERROR, "08001", fmt::format("{} did not answer in time", name));
  error.retryable = false;
  return error;
}

}  // namespace splitcount::engine::mariadb
