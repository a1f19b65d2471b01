#include <engine/postgresql/errors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::postgresql {
namespace {

constexpr std::size_t shown_bytes_max = 300;

/// States first, then classes of states (their first two characters).
constexpr auto meanings = std::to_array<std::pair<std::string_view, ErrorCode>>({
    {"40001", ErrorCode::serialization_failure},
    {"40P01", ErrorCode::deadlock},
    {"40003", ErrorCode::connection_lost},
    {"55P03", ErrorCode::database_busy},         // lock_timeout
    {"53300", ErrorCode::database_busy},         // too many connections
    {"53100", ErrorCode::disk_full},
    {"57014", ErrorCode::transaction_failed},    // canceled, also by statement_timeout
    {"57P01", ErrorCode::connection_lost},       // shutting down
    {"57P02", ErrorCode::connection_lost},       // another backend crashed
    {"57P03", ErrorCode::connection_lost},       // starting up
    {"57P05", ErrorCode::connection_lost},       // idle_session_timeout
    {"25P03", ErrorCode::connection_lost},       // idle_in_transaction_session_timeout
    {"25006", ErrorCode::read_only},             // a standby, or a transaction that only reads
    {"25P02", ErrorCode::transaction_failed},
    {"42501", ErrorCode::permission_denied},
    {"28000", ErrorCode::permission_denied},
    {"28P01", ErrorCode::permission_denied},
    {"3D000", ErrorCode::database_unavailable},
    {"22003", ErrorCode::out_of_range},
    {"42P07", ErrorCode::name_clash},
    {"42710", ErrorCode::name_clash},
    {"42723", ErrorCode::name_clash},
    {"42P01", ErrorCode::unknown_counter},       // a table that has gone
    {"42883", ErrorCode::unknown_counter},       // a function that has gone
    {"3F000", ErrorCode::unknown_counter},       // a schema that has gone
    {"XX001", ErrorCode::database_corrupt},
    {"XX002", ErrorCode::database_corrupt},
    {"08", ErrorCode::connection_lost},
    {"58", ErrorCode::io_error},
});

/// What the server's own words are about.
std::string_view introduction(ErrorCode code) {
  switch (code) {
    case ErrorCode::permission_denied: return "the role lacks a right (docs/postgresql.md lists what it needs)";
    case ErrorCode::read_only: return "PostgreSQL only reads here, as a standby or by a setting";
    case ErrorCode::database_busy: return "others held a lock for longer than this waits";
    case ErrorCode::disk_full: return "PostgreSQL has no room left";
    default: return "PostgreSQL answered";
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

Error made(std::string_view sqlstate, std::string message) {
  Error error;
  error.code = code_of(sqlstate);
  error.sqlstate = std::string(sqlstate);
  error.message = std::move(message);
  error.retryable = is_retryable(error.code);
  return error;
}

/// What libpq says where no connection comes about, a line for each address that it tried.
struct Refused {
  std::string_view state;  // empty: nobody answered
  std::string_view words;
};

/// The words after "server at ... failed: ", which says again what was asked for.
std::string_view without_place(std::string_view line) {
  constexpr std::string_view begin = "connection to server ";
  constexpr std::string_view end = "failed: ";
  const auto at = line.find(end);
  return line.starts_with(begin) && at != std::string_view::npos ? line.substr(at + end.size()) : line;
}

/// The last line in which something looks like ":  28P01: ", and holds a digit as every state does; else the first one.
Refused refused_in(std::string_view said) {
  constexpr std::size_t state_length = 5;
  const auto first_line = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  Refused refused{{}, without_place(first_line(said))};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto fits = [is_digit](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); };
  for (auto at = said.find(": "); at != std::string_view::npos; at = said.find(": ", at + 1)) {
    const auto begin = std::min(said.find_first_not_of(' ', at + 1), said.size());
    const auto state = said.substr(begin, state_length);
    const auto rest = said.substr(begin + state.size());
    if (state.size() == state_length && std::all_of(state.begin(), state.end(), fits) &&
        std::any_of(state.begin(), state.end(), is_digit) && rest.starts_with(": ")) {
      refused = {state, first_line(rest.substr(2))};
    }
  }
  return refused;
}

}  // namespace

ErrorCode code_of(std::string_view sqlstate) noexcept {
  if (sqlstate.starts_with("SC")) {  // ours: SC and the code's number
    int number = 0;
    std::from_chars(sqlstate.data() + 2, sqlstate.data() + sqlstate.size(), number);
    if (number >= 1 && number <= static_cast<int>(ErrorCode::counter_closed)) return static_cast<ErrorCode>(number);
  }
  for (const auto& [state, code] : meanings) {
    if (sqlstate.starts_with(state)) return code;
  }
  return ErrorCode::internal;
}

Error error_from(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string_view sqlstate = state == nullptr ? "" : state;
  const std::string_view message = said == nullptr ? PQresultErrorMessage(result) : said;
  if (sqlstate.empty()) return made("08006", fmt::format("the connection to PostgreSQL broke: {}", sentence(message)));
  if (sqlstate.starts_with("SC")) {  // a sentence of ours, after its code's name
    const auto colon = message.find(": ");
    return made(sqlstate, sentence(colon == std::string_view::npos ? message : message.substr(colon + 2)));
  }
  return made(sqlstate, fmt::format("{}: {} (SQLSTATE {})", introduction(code_of(sqlstate)), sentence(message), sqlstate));
}

void mark_dead(Error& error) noexcept {
  error.connection_dead = true;
  error.transaction_dead = true;
  if (error.code == ErrorCode::internal) error.code = ErrorCode::connection_lost;
  error.retryable = error.retryable || error.code == ErrorCode::connection_lost;
}

Error lost_connection(PGconn* connection, std::string_view why) {
  Error error = made("08006", fmt::format("the connection to PostgreSQL broke: {}",
                                          why.empty() ? sentence(PQerrorMessage(connection)) : std::string(why)));
  mark_dead(error);
  return error;
}

Error not_connected(std::string_view name, std::string_view said) {
  if (said.empty()) {
    Error error = made("08001", fmt::format("{} did not answer in time", name));
    error.code = ErrorCode::database_unavailable;
    return error;
  }
  const auto [state, words] = refused_in(said);
  Error error = state.empty() ? made(state, fmt::format("{} cannot be reached: {}", name, sentence(words)))
                              : made(state, fmt::format("{} cannot be used: {} (SQLSTATE {})", name, sentence(words), state));
  const bool not_reached = state.empty() || error.code == ErrorCode::internal;
  if (not_reached || error.code == ErrorCode::connection_lost) error.code = ErrorCode::database_unavailable;
  error.retryable = not_reached || error.retryable;
  return error;
}

Error password_missing(std::string_view name) {
  return made("28P01", fmt::format("{} asks for a password and there is none; put it into ~/.pgpass or the file that "
                                   "PGPASSFILE names, or the whole address into SPLITCOUNT_DB", name));
}

}  // namespace splitcount::engine::postgresql
