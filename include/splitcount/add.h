// The values that go into a counter and come out of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace splitcount {

using Instant = std::chrono::sys_time<std::chrono::microseconds>;  ///< UTC
using Deadline = std::chrono::steady_clock::time_point;

/// One change by a signed whole number. The views are borrowed for the length of the call.
struct Add {
  std::string_view key = {};         ///< 1 to 768 bytes of UTF-8 without NUL; empty: the counter has no key
  std::int64_t amount = 1;           ///< 0 is an add that changes nothing
  std::string_view request_id = {};  ///< 1 to 128 bytes of UTF-8 without NUL; empty: it counts plainly
  std::optional<std::int64_t> value = {};  ///< chooses the slot under pick `value`, and only there
  std::optional<int> slot = {};            ///< a given slot is used or refused, never replaced
};

/// What became of an add.
struct Added {
  int slot = 0;         ///< the slot that holds it
  bool replay = false;  ///< the request id was known: it counted before, and not again
  friend bool operator==(const Added&, const Added&) = default;
};

/// A sum over slots, from one statement.
struct Total {
  std::optional<std::string> key{};  ///< unset: the counter has none, or this is the sum over all keys
  std::int64_t total = 0;
  Instant as_of{};    ///< the database's clock when the statement ran
  bool live = true;   ///< false: rolled up, and as_of says when
  std::int64_t slots = 0;  ///< the slot rows that were summed
};

/// One slot of a key.
struct Slot {
  int slot = 0;
  std::int64_t n = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

}  // namespace splitcount
