// Merging: many adds become one change per (key, slot), in the order in which rows are locked.
//
//   adds      #0 b+1  #1 a+2  #2 b+3  #3 a+4(slot 1)
//   rows      (a,0): #1   (a,1): #3   (b,0): #0 #2          by key bytes, then by slot
//
// Then each row is settled against what the database holds: all of its adds, or, where the sum would leave signed
// 64 bits, one after the other in the order given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace splitcount::rule {

/// One add on its way to a row. The key is borrowed.
struct RowAdd {
  std::string_view key;  ///< empty for a counter without a key
  int slot = 0;
  std::int64_t amount = 0;
  std::size_t index = 0;  ///< the caller's own number of this add
};

/// All adds of one row: adds[first .. first + count) of the sorted list.
struct MergedRow {
  std::string_view key;
  int slot = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

struct Merged {
  std::vector<RowAdd> adds;  ///< sorted by (key bytes, slot), stable in the order given
  std::vector<MergedRow> rows;
};

/// Groups and sorts. Linear in the adds, plus a sort of the distinct rows.
[[nodiscard]] Merged merge(std::span<const RowAdd> adds);

/// What becomes of one row that holds `n`.
struct Settled {
  std::int64_t n = 0;                ///< the new value
  std::vector<std::size_t> refused;  ///< RowAdd::index of adds that would have left signed 64 bits
};
[[nodiscard]] Settled settle(std::int64_t n, std::span<const RowAdd> adds);

}  // namespace splitcount::rule
