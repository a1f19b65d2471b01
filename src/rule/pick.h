// Picks: who chooses the slot of an add.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <splitcount/add.h>
#include <splitcount/error.h>
#include <splitcount/rule.h>
#include <rule/rule.h>

namespace splitcount::rule {

/// FNV-1a over the bytes, 32 bits. The same is written in SQL where SQL picks (tests compare the two), so it is part
/// of what is stored: never change it. Source: Fowler, Noll, Vo; draft-eastlake-fnv.
[[nodiscard]] std::uint32_t request_hash(std::string_view request_id) noexcept;

/// The slot of an add, or nothing where the engine picks (session, spread, free on engines with many writers).
/// `draw` is one random number for the whole transaction: random uses one slot per transaction.
/// A given slot is checked and used. Errors: slot_missing, value_invalid.
[[nodiscard]] Result<std::optional<int>> pick_slot(const Rule& rule, const EngineTraits& engine, const Add& add,
                                                   std::uint64_t draw);

/// Everything about an add that can be seen without a database: key, request id, value, slot against the rule.
/// `counter` is for the sentence.
[[nodiscard]] Result<void> check_add(std::string_view counter, const Rule& rule, const Add& add);

}  // namespace splitcount::rule
