// How a counter counts. The rule is stored in the database, in one place; a Rule here is a copy of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace splitcount {

/// Who chooses the slot of an add. On an engine with one writer (SQLite) session and free mean random,
/// and spread means slot 0.
enum class Pick : std::uint8_t { session, spread, random, request, free, value };

/// What an add to a key or slot without a row does.
enum class Missing : std::uint8_t {
  error,   ///< it is refused; define creates the rows
  create,  ///< it creates the one row that it needs, never a slot outside the rule
};

/// How a key's slots lie in the database.
enum class Layout : std::uint8_t { compact, padded, journal };

/// What a repeated add does.
struct Retries {
  bool once = false;                             ///< an add with a request id counts once
  std::optional<std::chrono::seconds> window{};  ///< for how long an id is known; unset: for ever
  friend bool operator==(const Retries&, const Retries&) = default;
};

/// How old a total may be.
struct Freshness {
  std::optional<std::chrono::seconds> rolled_up{};  ///< unset: live
  friend bool operator==(const Freshness&, const Freshness&) = default;
};

/// A complete rule.
struct Rule {
  std::optional<std::string> key{};  ///< the name of the key column; unset: one number without a key
  int slots = 1;                     ///< 1..1024
  Pick pick = Pick::spread;
  Missing missing = Missing::create;
  Retries retries{};
  Freshness freshness{};
  Layout layout = Layout::compact;
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// What a caller says of a rule. What is left out means "as stored" for a counter that exists, and the
/// default (docs/cli.md, define) for a new one.
struct RuleOptions {
  std::optional<std::string> key{};
  std::optional<int> slots{};
  std::optional<Pick> pick{};
  std::optional<Missing> missing{};
  std::optional<Retries> retries{};
  std::optional<Freshness> freshness{};
  std::optional<Layout> layout{};
};

}  // namespace splitcount
