// The doors to an add, each with the same calls, so that one expectation is checked at all of them.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <contract/stand.h>

namespace splitcount::contract {

enum class DoorKind {
  own,       ///< Counter::add in a transaction of its own
  caller,    ///< Counter::add within the caller's transaction, which then commits
  sql,       ///< plain SQL of a program without the library
  combined,  ///< Combiner::submit
};
[[nodiscard]] std::string door_name(DoorKind kind);

/// What a door tells of an add that was done. Plain SQL tells neither.
struct Told {
  std::optional<int> slot;
  std::optional<bool> replay;
};

class Door {
 public:
  virtual ~Door() = default;
  /// True: a refused add of add_many takes all others with it. False: only itself.
  [[nodiscard]] virtual bool all_or_nothing() const { return true; }
  /// One entry an add. Behind an all-or-nothing door one refusal is the answer of every add.
  [[nodiscard]] virtual std::vector<Result<Told>> add_many(Counter& counter, std::span<const Add> adds) = 0;
  [[nodiscard]] Result<Told> add(Counter& counter, const Add& add) {
    return add_many(counter, std::span(&add, 1)).front();
  }
};

[[nodiscard]] std::unique_ptr<Door> open_door(DoorKind kind, Stand& stand, Database& database);

/// The stable code that a plain SQL error begins with; `internal` where it begins with none.
[[nodiscard]] Error error_of(const SqlError& error);

}  // namespace splitcount::contract
