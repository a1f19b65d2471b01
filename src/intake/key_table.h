// Keys and how often each was seen: an open-addressing table whose entries lie in one array, in order of arrival.
//
//   cells    [ 0 | 3 | 0 | 1 | 2 | 0 | ... ]     a power of two, at most half full; 0 is free, else entry number + 1
//   entries  [ hash key count | ... ]            handed on as they are when a piece of the file is finished
//
// Not tsl::robin_map: entries in one array are handed over as they are, with their hashes. A million targets of a real
// log, tallied in chunks and merged, took 17 ms of processor time here and 30 ms with robin_map (storing hashes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace splitcount::intake {

/// XXH3 with a seed drawn per process, so that nobody can send keys that collide.
[[nodiscard]] std::uint64_t hash_key(std::string_view key) noexcept;

class KeyTable {
 public:
  struct Entry {
    std::uint64_t hash = 0;
    std::string_view key;  ///< borrowed; it must outlive the entry
    std::uint64_t count = 0;
  };

  KeyTable() : cells_(cells_min) {}

  /// The entry of a key, or null.
  [[nodiscard]] Entry* find(std::string_view key, std::uint64_t hash) noexcept;
  /// Adds a key that is not there.
  void insert(const Entry& entry);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// Hands out the entries and is empty afterwards.
  [[nodiscard]] std::vector<Entry> take();
  void clear();

 private:
  static constexpr std::size_t cells_min = 4096;
  void place(std::uint64_t hash, std::uint32_t number) noexcept;
  void grow();

  std::vector<std::uint32_t> cells_;
  std::vector<Entry> entries_;
};

}  // namespace splitcount::intake
