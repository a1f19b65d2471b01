// Pieces of one file that are committed together, merged by key.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <splitcount/add.h>
#include <intake/arena.h>
#include <intake/chunk.h>

namespace splitcount::intake {

class Group {
 public:
  /// False: the piece might take the group beyond its bounds, and the group has to be committed first.
  [[nodiscard]] bool has_room(const Piece& piece, const Bounds& bounds) const noexcept;
  /// The piece follows those before it.
  void merge(const Piece& piece);
  void clear();

  [[nodiscard]] bool empty() const noexcept { return lines_ == 0; }
  [[nodiscard]] std::int64_t to() const noexcept { return to_; }
  [[nodiscard]] const Digest& digest() const noexcept { return digest_; }
  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }
  [[nodiscard]] const ReasonTally& rejects() const noexcept { return rejects_; }
  /// One add a key; its amount is the number of lines.
  [[nodiscard]] std::vector<Add> adds() const;

 private:
  KeyTable table_;
  Arena keys_;
  std::int64_t to_ = 0;
  Digest digest_{};
  std::uint64_t lines_ = 0;
  ReasonTally rejects_{};
};

}  // namespace splitcount::intake
