#include <splitcount/error.h>

namespace splitcount {

std::string_view error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::amount_invalid: return "amount_invalid";
    case ErrorCode::value_invalid: return "value_invalid";
    case ErrorCode::key_invalid: return "key_invalid";
    case ErrorCode::name_invalid: return "name_invalid";
    case ErrorCode::rule_invalid: return "rule_invalid";
    case ErrorCode::request_id_invalid: return "request_id_invalid";
    case ErrorCode::config_invalid: return "config_invalid";
    case ErrorCode::file_unreadable: return "file_unreadable";
    case ErrorCode::unknown_counter: return "unknown_counter";
    case ErrorCode::rule_differs: return "rule_differs";
    case ErrorCode::name_clash: return "name_clash";
    case ErrorCode::key_missing: return "key_missing";
    case ErrorCode::slot_missing: return "slot_missing";
    case ErrorCode::out_of_range: return "out_of_range";
    case ErrorCode::request_id_refused: return "request_id_refused";
    case ErrorCode::request_conflict: return "request_conflict";
    case ErrorCode::request_in_flight: return "request_in_flight";
    case ErrorCode::stream_conflict: return "stream_conflict";
    case ErrorCode::rule_changed: return "rule_changed";
    case ErrorCode::not_on_this_engine: return "not_on_this_engine";
    case ErrorCode::not_installed: return "not_installed";
    case ErrorCode::schema_too_new: return "schema_too_new";
    case ErrorCode::database_unavailable: return "database_unavailable";
    case ErrorCode::not_a_database: return "not_a_database";
    case ErrorCode::database_corrupt: return "database_corrupt";
    case ErrorCode::database_busy: return "database_busy";
    case ErrorCode::read_only: return "read_only";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::disk_full: return "disk_full";
    case ErrorCode::io_error: return "io_error";
    case ErrorCode::no_transaction: return "no_transaction";
    case ErrorCode::transaction_failed: return "transaction_failed";
    case ErrorCode::serialization_failure: return "serialization_failure";
    case ErrorCode::deadlock: return "deadlock";
    case ErrorCode::connection_lost: return "connection_lost";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::queue_full: return "queue_full";
    case ErrorCode::outcome_unknown: return "outcome_unknown";
    case ErrorCode::internal: return "internal";
    case ErrorCode::counter_closed: return "counter_closed";
  }
  return "internal";
}

}  // namespace splitcount
