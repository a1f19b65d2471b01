// From an Add to what the engine writes: checked and picked by the rule, and by the new rule where it was changed.
#pragma once

#include <span>
#include <vector>

#include <splitcount/add.h>
#include <splitcount/error.h>

#include <counter/store.h>
#include <engine/engine.h>

namespace splitcount::counter {

/// The rule by which all of the adds are right, reread once where the rule at hand refuses one of them for a reason
/// that another rule would not have. Nothing is written.
[[nodiscard]] Result<StoredRule> check(Handle& handle, std::span<const Add> adds, Deadline deadline);

/// True where a check by another rule could come out differently.
[[nodiscard]] bool depends_on_rule(const Add& add, const Error& refusal) noexcept;

/// Whose transaction it is: what is read in the caller's may be rolled back, and is not kept.
enum class Transaction : bool { own, callers };

/// Writes adds inside the transaction of `connection`, as engine::Connection::apply does, and follows a rule that was
/// changed meanwhile, once. `checked`: the rule by which the adds were checked already; null: by none.
/// Errors of a counter that went away (unknown_counter) leave the transaction alive.
[[nodiscard]] Result<std::vector<Result<Added>>> write(Handle& handle, engine::Connection& connection,
                                                       std::span<const Add> adds, engine::Refusal refusal,
                                                       const engine::StoredCounter* checked,
                                                       Transaction transaction = Transaction::own);

}  // namespace splitcount::counter
