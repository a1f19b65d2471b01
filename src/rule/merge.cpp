#include <rule/merge.h>

#include <algorithm>
#include <functional>
#include <random>

#include <tsl/robin_map.h>
#include <xxhash.h>

#include <rule/amount.h>

namespace splitcount::rule {
namespace {

struct Row {
  std::string_view key;
  int slot;
  friend bool operator==(const Row&, const Row&) = default;
};

/// Keys come from outside: with a seed that nobody can know, nobody can choose keys that all collide.
std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32U | source();
  }();
  return seed;
}

struct RowHash {
  std::uint64_t seed = hash_seed();
  std::size_t operator()(const Row& row) const noexcept {
    return XXH3_64bits_withSeed(row.key.data(), row.key.size(), seed + static_cast<std::uint64_t>(row.slot));
  }
};

using RowNumbers =
    tsl::robin_map<Row, std::size_t, RowHash, std::equal_to<>, std::allocator<std::pair<Row, std::size_t>>,
                   true>;  // with stored hashes, since keys are slow to compare and to hash again

bool same_row(const RowAdd& a, const RowAdd& b) noexcept { return a.slot == b.slot && a.key == b.key; }

}  // namespace

Merged merge(std::span<const RowAdd> adds) {
  Merged merged;
  if (adds.empty()) return merged;
  const RowAdd& front = adds.front();
  if (std::all_of(adds.begin() + 1, adds.end(), [&](const RowAdd& add) { return same_row(add, front); })) {
    merged.adds.assign(adds.begin(), adds.end());
    merged.rows.push_back({front.key, front.slot, 0, adds.size()});
    return merged;
  }

  // Rows are numbered as they appear; until they are sorted, `first` holds that number.
  RowNumbers numbers;
  std::vector<std::size_t> row_of_add(adds.size());
  for (std::size_t i = 0; i < adds.size(); ++i) {
    const RowAdd& add = adds[i];
    const auto [at, is_new] = numbers.try_emplace(Row{add.key, add.slot}, merged.rows.size());
    if (is_new) merged.rows.push_back({add.key, add.slot, merged.rows.size(), 0});
    row_of_add[i] = at->second;
    ++merged.rows[at->second].count;
  }
  std::sort(merged.rows.begin(), merged.rows.end(), [](const MergedRow& a, const MergedRow& b) {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.slot < b.slot;
  });

  std::vector<std::size_t> next_of_row(merged.rows.size());
  std::size_t first = 0;
  for (MergedRow& row : merged.rows) {
    next_of_row[row.first] = first;
    row.first = first;
    first += row.count;
  }
  merged.adds.resize(adds.size());
  for (std::size_t i = 0; i < adds.size(); ++i) merged.adds[next_of_row[row_of_add[i]]++] = adds[i];
  return merged;
}

Settled settle(std::int64_t n, std::span<const RowAdd> adds) {
  // One after the other refuses nothing where the positive and the negative sums both stay within the range, so the
  // order matters only at its edges.
  Settled settled;
  settled.n = n;
  for (const RowAdd& add : adds) {
    if (const auto sum = checked_add(settled.n, add.amount)) {
      settled.n = *sum;
    } else {
      settled.refused.push_back(add.index);
    }
  }
  return settled;
}

}  // namespace splitcount::rule
