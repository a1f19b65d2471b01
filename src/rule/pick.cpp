#include <rule/pick.h>

#include <string>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <rule/amount.h>
#include <rule/key.h>

namespace splitcount::rule {
namespace {

std::string counter_named(std::string_view counter) { return fmt::format("counter {}", quoted(counter)); }

/// What can be wrong with the slot and the value of an add. `subject` gives the beginning of the sentence, "the
/// counter"; it is called only where something is wrong, since making it costs more than the check.
template <class Subject>
Result<void> check_slot_and_value(const Subject& subject, const Rule& rule, const Add& add) {
  if (add.value && add.slot) {
    return fail(
        ErrorCode::value_invalid,
        fmt::format("an add to {} carries value {} and slot {}; give one of them, since a value chooses the slot",
                    subject(), *add.value, *add.slot));
  }
  if (add.value && rule.pick != Pick::value) {
    return fail(ErrorCode::value_invalid, fmt::format("{} picks its slot by {}, so an add cannot carry value {}; leave "
                                                      "the value out",
                                                      subject(), to_text(rule.pick), *add.value));
  }
  if (!add.value && !add.slot && rule.pick == Pick::value) {
    return fail(ErrorCode::value_invalid,
                fmt::format("{} picks its slot by a value, and this add carries none; give a whole number", subject()));
  }
  if (add.slot && (*add.slot < 0 || *add.slot >= rule.slots)) {
    if (rule.slots == 1) {
      return fail(ErrorCode::slot_missing, fmt::format("{} has slot 0 only, and {} is another", subject(), *add.slot));
    }
    return fail(ErrorCode::slot_missing,
                fmt::format("{} has slots 0 to {}, and {} is not one of them", subject(), rule.slots - 1, *add.slot));
  }
  return {};
}

Result<void> check_key_of_add(std::string_view counter, const Rule& rule, const Add& add) {
  if (rule.key && add.key.empty()) {
    return fail(ErrorCode::key_invalid,
                fmt::format("{} counts by {}, and this add has no {}; give a key of 1 to {} bytes",
                            counter_named(counter), *rule.key, *rule.key, limits::key_bytes_max));
  }
  if (!rule.key && !add.key.empty()) {
    return fail(ErrorCode::key_invalid,
                fmt::format("{} has no key, so key {} cannot be counted there; leave the key out",
                            counter_named(counter), quoted(add.key)));
  }
  if (rule.key) return check_key(add.key);
  return {};
}

Result<void> check_request_id_of_add(std::string_view counter, const Rule& rule, const Add& add) {
  if (add.request_id.empty()) return {};
  if (!rule.retries.once) {
    return fail(ErrorCode::request_id_refused,
                fmt::format("{} counts every retry, so request id {} would be no help; leave it out, or define a "
                            "counter with retries once",
                            counter_named(counter), quoted(add.request_id)));
  }
  return check_request_id(add.request_id);
}

}  // namespace

std::uint32_t request_hash(std::string_view request_id) noexcept {
  std::uint32_t hash = 2'166'136'261U;
  for (const char byte : request_id) hash = (hash ^ static_cast<unsigned char>(byte)) * 16'777'619U;
  return hash;
}

Result<std::optional<int>> pick_slot(const Rule& rule, const EngineTraits& engine, const Add& add, std::uint64_t draw) {
  if (auto checked = check_slot_and_value([] { return "the counter"; }, rule, add); !checked)
    return fail(std::move(checked.error()));
  if (add.slot) return add.slot;
  const auto slots = static_cast<std::uint64_t>(rule.slots);
  const int drawn = static_cast<int>(draw % slots);
  switch (rule.pick) {
    case Pick::value: return static_cast<int>(floor_remainder(*add.value, rule.slots));
    case Pick::random: return drawn;
    case Pick::request:
      // Without an id there is no retry that would have to meet its first try.
      return add.request_id.empty() ? drawn : static_cast<int>(request_hash(add.request_id) % slots);
    case Pick::spread: return engine.one_writer ? std::optional{0} : std::nullopt;
    case Pick::session:
    case Pick::free: return engine.one_writer ? std::optional{drawn} : std::nullopt;
  }
  return fail(ErrorCode::internal, fmt::format("pick {} is unknown", static_cast<int>(rule.pick)));
}

Result<void> check_add(std::string_view counter, const Rule& rule, const Add& add) {
  if (auto checked = check_key_of_add(counter, rule, add); !checked) return checked;
  if (auto checked = check_request_id_of_add(counter, rule, add); !checked) return checked;
  return check_slot_and_value([counter] { return counter_named(counter); }, rule, add);
}

}  // namespace splitcount::rule
