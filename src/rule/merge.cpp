#include <rule/merge.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include <tsl/robin_map.h>
#include <xxhash.h>

#include <rule/amount.h>

namespace splitcount::rule {
namespace {

// Numbers of adds and rows have 32 bits, and keys stay where they are: with 16,384 distinct keys most of the time goes
// into touching fresh memory (measured: 340 page faults a merge instead of 800).
using Number = std::uint32_t;

bool same_row(const RowAdd& a, const RowAdd& b) noexcept { return a.slot == b.slot && a.key == b.key; }

bool row_less(const RowAdd& a, const RowAdd& b) noexcept {
  const int order = a.key.compare(b.key);
  return order != 0 ? order < 0 : a.slot < b.slot;
}

/// Keys come from outside: with a seed that nobody can know, nobody can choose keys that all collide.
std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32U | source();
  }();
  return seed;
}

/// Hashes and compares adds, given by their numbers, by the row that they go to.
struct RowHash {
  const RowAdd* adds;
  std::uint64_t seed;
  std::size_t operator()(Number add) const noexcept {
    const RowAdd& of = adds[add];
    return XXH3_64bits_withSeed(of.key.data(), of.key.size(), seed + static_cast<std::uint64_t>(of.slot));
  }
};
struct RowEqual {
  const RowAdd* adds;
  bool operator()(Number a, Number b) const noexcept { return same_row(adds[a], adds[b]); }
};

/// Rows in the order in which they appear.
struct Grouped {
  std::vector<Number> first_add;   ///< of each row
  std::vector<Number> count;       ///< of each row
  std::vector<Number> row_of_add;  ///< of each add
};

Grouped group(std::span<const RowAdd> adds) {
  // With stored hashes, since a key is slow to hash again and to compare.
  tsl::robin_map<Number, Number, RowHash, RowEqual, std::allocator<std::pair<Number, Number>>, true> rows(
      0, RowHash{adds.data(), hash_seed()}, RowEqual{adds.data()});
  Grouped grouped;
  grouped.row_of_add.reserve(adds.size());
  for (Number i = 0; i < adds.size(); ++i) {
    const auto [at, is_new] = rows.try_emplace(i, static_cast<Number>(grouped.count.size()));
    if (is_new) {
      grouped.first_add.push_back(i);
      grouped.count.push_back(0);
    }
    grouped.row_of_add.push_back(at->second);
    ++grouped.count[at->second];
  }
  return grouped;
}

/// The first eight bytes as one number that compares as they do; zeros stand for what is missing.
std::uint64_t head_of(std::string_view bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, sizeof(std::uint64_t)> head{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
  return __builtin_bswap64(std::bit_cast<std::uint64_t>(head));
}

struct Entry {
  std::uint64_t head;  ///< of the row's key, after what all keys begin with
  Number row;
};

/// The rows by key bytes, then by slot. Keys are often paths with a common beginning; the eight bytes after it settle
/// nearly every comparison without a look at the keys.
std::vector<Entry> sorted(std::span<const RowAdd> adds, const Grouped& grouped) {
  std::string_view shared = adds.front().key;
  for (const Number first : grouped.first_add) {
    const std::string_view key = adds[first].key;
    const auto end = std::mismatch(shared.begin(), shared.end(), key.begin(), key.end()).first;
    shared = shared.substr(0, static_cast<std::size_t>(end - shared.begin()));
  }
  std::vector<Entry> entries;
  entries.reserve(grouped.first_add.size());
  for (const Number first : grouped.first_add) {
    entries.push_back({head_of(adds[first].key.substr(shared.size())), static_cast<Number>(entries.size())});
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.head != b.head) return a.head < b.head;
    return row_less(adds[grouped.first_add[a.row]], adds[grouped.first_add[b.row]]);
  });
  return entries;
}

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

  const Grouped grouped = group(adds);
  std::vector<Number> next_of_row(grouped.count.size());
  merged.rows.reserve(grouped.count.size());
  Number first = 0;
  for (const Entry& entry : sorted(adds, grouped)) {
    const RowAdd& of = adds[grouped.first_add[entry.row]];
    merged.rows.push_back({of.key, of.slot, first, grouped.count[entry.row]});
    next_of_row[entry.row] = first;
    first += grouped.count[entry.row];
  }
  merged.adds.resize(adds.size());
  for (std::size_t i = 0; i < adds.size(); ++i) merged.adds[next_of_row[grouped.row_of_add[i]]++] = adds[i];
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
