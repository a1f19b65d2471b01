// Adds that wait to be committed together, with copies of their bytes.
//
//   waiting   [ submission 0: adds 0..1 ][ submission 1: add 2 ] ...     one entry a call of submit
//   adds      [ 0 ][ 1 ][ 2 ] ...                                        one entry an add, keys and ids in the arena
//   lanes     [ counter a, rule 7 ][ counter b, rule 9 ]                 what the adds were checked by
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <splitcount/combiner.h>

#include <counter/store.h>

namespace splitcount::combine {

/// Copies of byte strings that stay where they are until clear().
class Arena {
 public:
  [[nodiscard]] std::string_view keep(std::string_view bytes);
  void clear() noexcept;

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_ = 0;  ///< the one that is being filled
  std::size_t used_ = 0;   ///< bytes of it
};

/// A counter, and the rule by which adds to it were checked.
struct Lane {
  std::shared_ptr<counter::Handle> handle;
  counter::StoredRule checked;
};

/// One call of submit that waits for its answer.
struct Waiting {
  Combiner::Done done;
  Deadline deadline{};
  std::uint32_t first = 0;  ///< into Block::adds
  std::uint32_t count = 0;
  std::uint32_t lane = 0;  ///< into Block::lanes
  bool answered = false;
};

struct Block {
  std::vector<Waiting> waiting;
  std::vector<Add> adds;
  std::vector<std::uint32_t> owner;  ///< for each add, its entry in `waiting`
  std::vector<Lane> lanes;
  std::size_t bytes = 0;                ///< of keys and ids
  std::size_t dead = 0;                 ///< adds whose caller has been answered
  Deadline earliest = Deadline::max();  ///< no unanswered entry has an earlier deadline
  Arena arena;

  void append(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
              std::span<const Add> added, Deadline deadline, Combiner::Done&& done);
  /// Lets go of the adds that were answered. Only for a block that nobody else looks at.
  void drop_answered();
  /// Empty again, with some memory kept for the next adds.
  void clear() noexcept;

 private:
  std::uint32_t lane_of(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked);
};

/// The bytes of keys and ids.
[[nodiscard]] std::size_t bytes_of(std::span<const Add> adds) noexcept;

}  // namespace splitcount::combine
