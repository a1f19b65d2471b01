#include <rule/rule.h>

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <rule/amount.h>
#include <rule/name.h>

namespace splitcount::rule {
namespace {

template <class Enum>
struct Word {
  Enum meaning;
  std::string_view text;
};

constexpr std::array<Word<Pick>, 6> picks{{{Pick::session, "session"},
                                           {Pick::spread, "spread"},
                                           {Pick::random, "random"},
                                           {Pick::request, "request"},
                                           {Pick::free, "free"},
                                           {Pick::value, "value"}}};
constexpr std::array<Word<Missing>, 2> missings{{{Missing::error, "error"}, {Missing::create, "create"}}};
constexpr std::array<Word<Layout>, 3> layouts{
    {{Layout::compact, "compact"}, {Layout::padded, "padded"}, {Layout::journal, "journal"}}};

constexpr std::array<Word<std::int64_t>, 4> units{{{24 * 3600, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}};  // in seconds

constexpr std::string_view once_for = "once:";
constexpr std::string_view rolled_up_for = "rolled-up:";

template <class Words, class Enum>
std::string_view text_of(const Words& words, Enum meaning) noexcept {
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.meaning == meaning; });
  return found == words.end() ? std::string_view{"unknown"} : found->text;
}

template <class Enum, std::size_t count>
Result<Enum> parse_word(const std::array<Word<Enum>, count>& words, std::string_view field, std::string_view text) {
  std::string known;
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i].text == text) return words[i].meaning;
    if (i > 0) known += i + 1 < count ? ", " : " or ";
    known += words[i].text;
  }
  return fail(ErrorCode::rule_invalid, fmt::format("{} is {}, and {} is none of them", field, known, quoted(text)));
}

/// What follows the colon of once:24h. `field` and `example` are for the sentence.
Result<std::chrono::seconds> parse_duration_of(std::string_view field, std::string_view example, std::string_view text,
                                               std::string_view duration) {
  auto parsed = parse_duration(duration);
  if (parsed) return parsed;
  return fail(ErrorCode::rule_invalid,
              fmt::format("{} {} is not like {}: {}", field, quoted(text), example, parsed.error().message));
}

Result<void> check_duration(std::string_view field, const std::optional<std::chrono::seconds>& duration) {
  if (!duration || (duration->count() >= 1 && duration->count() <= limits::window_seconds_max)) return {};
  return fail(ErrorCode::rule_invalid,
              fmt::format("the duration of {} is from 1s to {}, and {}s is not", field,
                          format_duration(std::chrono::seconds{limits::window_seconds_max}), duration->count()));
}

Result<void> check_ranges(const Rule& rule) {
  if (rule.key) {
    if (auto checked = check_key_name(*rule.key); !checked) return checked;
  }
  if (rule.slots < 1 || rule.slots > limits::slots_max) {
    return fail(ErrorCode::rule_invalid,
                fmt::format("slots is a whole number from 1 to {}, and {} is not", limits::slots_max, rule.slots));
  }
  if (auto checked = check_duration("retries", rule.retries.window); !checked) return checked;
  return check_duration("freshness", rule.freshness.rolled_up);
}

Result<void> check_contradictions(const Rule& rule) {
  if (rule.retries.window && !rule.retries.once) {
    return fail(ErrorCode::rule_invalid,
                fmt::format("retries count keeps no request ids, so it has no window of {}; use retries once:{}, or "
                            "leave the window out",
                            format_duration(*rule.retries.window), format_duration(*rule.retries.window)));
  }
  if (rule.pick == Pick::request && !rule.retries.once) {
    return fail(ErrorCode::rule_invalid,
                "pick request goes by the request id, and retries count refuses every id; use retries once with it, or "
                "another pick");
  }
  return {};
}

Result<void> check_engine(const Rule& rule, const EngineTraits& engine) {
  if (rule.layout == Layout::padded && !engine.padded) {
    const std::string why = engine.padded_refusal.empty() ? "" : fmt::format(" ({})", engine.padded_refusal);
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("layout padded is not on {}{}; use layout compact", engine.name, why));
  }
  if (rule.layout == Layout::journal && !engine.journal) {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("layout journal is not on {} yet; use layout compact", engine.name));
  }
  if (rule.freshness.rolled_up && !engine.rolled_up) {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("freshness rolled-up is not on {} yet; use freshness live", engine.name));
  }
  return {};
}

}  // namespace

std::string_view to_text(Pick pick) noexcept { return text_of(picks, pick); }
std::string_view to_text(Missing missing) noexcept { return text_of(missings, missing); }
std::string_view to_text(Layout layout) noexcept { return text_of(layouts, layout); }

std::string to_text(const Retries& retries) {
  if (!retries.once) return "count";
  if (!retries.window) return "once";
  return fmt::format("{}{}", once_for, format_duration(*retries.window));
}

std::string to_text(const Freshness& freshness) {
  if (!freshness.rolled_up) return "live";
  return fmt::format("{}{}", rolled_up_for, format_duration(*freshness.rolled_up));
}

Result<Pick> parse_pick(std::string_view text) { return parse_word(picks, "pick", text); }
Result<Missing> parse_missing(std::string_view text) { return parse_word(missings, "missing", text); }
Result<Layout> parse_layout(std::string_view text) { return parse_word(layouts, "layout", text); }

Result<Retries> parse_retries(std::string_view text) {
  if (text == "count") return Retries{};
  if (text == "once") return Retries{true, std::nullopt};
  if (!text.starts_with(once_for)) {
    return fail(
        ErrorCode::rule_invalid,
        fmt::format("retries is count, once or once:DURATION like once:24h, and {} is none of them", quoted(text)));
  }
  const auto window = parse_duration_of("retries", "once:24h", text, text.substr(once_for.size()));
  if (!window) return fail(window.error());
  return Retries{true, *window};
}

Result<Freshness> parse_freshness(std::string_view text) {
  if (text == "live") return Freshness{};
  if (!text.starts_with(rolled_up_for)) {
    return fail(
        ErrorCode::rule_invalid,
        fmt::format("freshness is live or rolled-up:DURATION like rolled-up:1h, and {} is neither", quoted(text)));
  }
  const auto age = parse_duration_of("freshness", "rolled-up:1h", text, text.substr(rolled_up_for.size()));
  if (!age) return fail(age.error());
  return Freshness{*age};
}

Result<std::chrono::seconds> parse_duration(std::string_view text) {
  constexpr std::chrono::seconds longest{limits::window_seconds_max};
  for (const auto& unit : units) {
    if (!text.ends_with(unit.text)) continue;
    const auto number = parse_whole(text.substr(0, text.size() - unit.text.size()));
    if (!number || *number < 1) break;
    if (*number <= longest.count() / unit.meaning) return std::chrono::seconds{*number * unit.meaning};
    return fail(ErrorCode::rule_invalid,
                fmt::format("{} is too long a duration; the longest is {}", quoted(text), format_duration(longest)));
  }
  return fail(ErrorCode::rule_invalid, fmt::format("a duration is a whole number from 1 on and s, m, h or d, like 90s, "
                                                   "15m, 24h or 7d, and {} is not",
                                                   quoted(text)));
}

std::string format_duration(std::chrono::seconds duration) {
  for (const auto& unit : units) {
    // One day is written as people say it: 24h, as in `once:24h`.
    const bool one_day = duration == std::chrono::hours{24} && unit.text == "d";
    if (duration.count() != 0 && duration.count() % unit.meaning == 0 && !one_day) {
      return fmt::format("{}{}", duration.count() / unit.meaning, unit.text);
    }
  }
  return "0s";
}

Rule complete(const RuleOptions& options, const EngineTraits& engine) {
  Rule defaults;
  defaults.slots = engine.slots_default;
  defaults.pick = options.key ? Pick::spread : Pick::session;
  defaults.missing = options.key ? Missing::create : Missing::error;
  return overlay(options, defaults);
}

Rule overlay(const RuleOptions& options, const Rule& stored) {
  Rule rule = stored;
  if (options.key) rule.key = options.key;
  rule.slots = options.slots.value_or(stored.slots);
  rule.pick = options.pick.value_or(stored.pick);
  rule.missing = options.missing.value_or(stored.missing);
  rule.retries = options.retries.value_or(stored.retries);
  rule.freshness = options.freshness.value_or(stored.freshness);
  rule.layout = options.layout.value_or(stored.layout);
  return rule;
}

Result<void> check(const Rule& rule, const EngineTraits& engine) {
  if (auto checked = check_ranges(rule); !checked) return checked;
  if (auto checked = check_contradictions(rule); !checked) return checked;
  return check_engine(rule, engine);
}

std::string difference(const Rule& stored, const Rule& wanted) {
  std::vector<std::string> parts;
  const auto compare = [&](std::string_view field, const auto& is, const auto& should) {
    if (is != should) parts.push_back(fmt::format("{} is {}, not {}", field, is, should));
  };
  // `none` is no key's name: it is reserved.
  compare("key", stored.key.value_or("none"), wanted.key.value_or("none"));
  compare("slots", stored.slots, wanted.slots);
  compare("pick", to_text(stored.pick), to_text(wanted.pick));
  compare("missing", to_text(stored.missing), to_text(wanted.missing));
  compare("retries", to_text(stored.retries), to_text(wanted.retries));
  compare("freshness", to_text(stored.freshness), to_text(wanted.freshness));
  compare("layout", to_text(stored.layout), to_text(wanted.layout));
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool is_prime(int number) noexcept {
  if (number < 2) return false;
  for (int divisor = 2; divisor <= number / divisor; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

std::string primes_near(int number) {
  const int from = std::clamp(number, 2, limits::slots_max);
  int below = from;
  while (!is_prime(below)) --below;
  int above = from;
  while (above <= limits::slots_max && !is_prime(above)) ++above;
  if (above > limits::slots_max || above == below) return std::to_string(below);
  return fmt::format("{} or {}", below, above);
}

}  // namespace splitcount::rule
