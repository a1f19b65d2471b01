// Rules: their words, their validation, and what is different between two of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <splitcount/error.h>
#include <splitcount/rule.h>

namespace splitcount::rule {

/// What an engine can do, as far as a rule depends on it.
struct EngineTraits {
  std::string_view name;       ///< as in a sentence: "SQLite"
  bool one_writer = false;     ///< session and free mean random, spread means slot 0
  int slots_default = 16;
  bool padded = false;         ///< the layout padded exists there
  bool journal = false;
  bool rolled_up = false;      ///< freshness rolled-up exists there
  std::string_view padded_refusal{};  ///< why not, for the sentence
};

[[nodiscard]] std::string_view to_text(Pick pick) noexcept;
[[nodiscard]] std::string_view to_text(Missing missing) noexcept;
[[nodiscard]] std::string_view to_text(Layout layout) noexcept;
/// "count", "once", "once:24h": the largest unit (d, h, m, s) that gives a whole number.
[[nodiscard]] std::string to_text(const Retries& retries);
/// "live", "rolled-up:1h".
[[nodiscard]] std::string to_text(const Freshness& freshness);

/// The reverse of each. Error: rule_invalid, naming the words that are right.
[[nodiscard]] Result<Pick> parse_pick(std::string_view text);
[[nodiscard]] Result<Missing> parse_missing(std::string_view text);
[[nodiscard]] Result<Layout> parse_layout(std::string_view text);
[[nodiscard]] Result<Retries> parse_retries(std::string_view text);
[[nodiscard]] Result<Freshness> parse_freshness(std::string_view text);
/// "90s", "15m", "24h", "7d": digits without leading zero and a unit, 1 s to limits::window_seconds_max.
[[nodiscard]] Result<std::chrono::seconds> parse_duration(std::string_view text);
[[nodiscard]] std::string format_duration(std::chrono::seconds duration);

/// The options with defaults filled in for a new counter. It does not validate.
[[nodiscard]] Rule complete(const RuleOptions& options, const EngineTraits& engine);
/// The options laid over a stored rule: what is left out is as stored.
[[nodiscard]] Rule overlay(const RuleOptions& options, const Rule& stored);

/// Ranges and contradictions (pick request without once, a window without once), then what the engine does not do.
/// Errors: rule_invalid, name_invalid, not_on_this_engine.
[[nodiscard]] Result<void> check(const Rule& rule, const EngineTraits& engine);

/// "slots is 16, not 8; pick is random, not spread": stored against wanted; empty where they are equal.
[[nodiscard]] std::string difference(const Rule& stored, const Rule& wanted);

/// True for 2, 3, 5, 7, 11, ... A slot count for pick value had better be prime; define says so where it is not.
[[nodiscard]] bool is_prime(int number) noexcept;
/// The nearest primes around a slot count, e.g. "11 or 13" for 12 and "1021" for 1024: within 2..1024.
[[nodiscard]] std::string primes_near(int number);

}  // namespace splitcount::rule
