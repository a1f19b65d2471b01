// Names of counters and of key columns.
#pragma once

#include <string_view>

#include <splitcount/error.h>

namespace splitcount::rule {

/// [a-z][a-z0-9_]{0,39}, not reserved, and not ending like one of our objects (_slots, _add, _requests,
/// _history, _total, _deltas) nor beginning with splitcount_ or sqlite_ or pg_. Error: name_invalid.
[[nodiscard]] Result<void> check_counter_name(std::string_view name);

/// The same for a key column (without the rule about endings).
[[nodiscard]] Result<void> check_key_name(std::string_view name);

/// One list over all dialects: our own columns and every dialect's reserved words.
[[nodiscard]] bool is_reserved(std::string_view name) noexcept;

}  // namespace splitcount::rule
