#include <intake/key_table.h>

#include <algorithm>
#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace splitcount::intake {
namespace {

std::uint64_t draw_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}
const std::uint64_t seed = draw_seed();

}  // namespace

std::uint64_t hash_key(std::string_view key) noexcept { return XXH3_64bits_withSeed(key.data(), key.size(), seed); }

KeyTable::Entry* KeyTable::find(std::string_view key, std::uint64_t hash) noexcept {
  const auto mask = cells_.size() - 1;
  for (auto cell = hash & mask; cells_[cell] != 0; cell = (cell + 1) & mask) {
    auto& entry = entries_[cells_[cell] - 1];
    if (entry.hash == hash && entry.key == key) return &entry;
  }
  return nullptr;
}

void KeyTable::insert(const Entry& entry) {
  if ((entries_.size() + 1) * 2 > cells_.size()) grow();
  entries_.push_back(entry);
  place(entry.hash, static_cast<std::uint32_t>(entries_.size()));
}

std::vector<KeyTable::Entry> KeyTable::take() {
  auto entries = std::move(entries_);
  entries_.clear();
  entries_.reserve(std::min<std::size_t>(entries.size(), cells_min / 2));
  std::fill(cells_.begin(), cells_.end(), 0U);
  return entries;
}

void KeyTable::clear() {
  entries_.clear();
  std::fill(cells_.begin(), cells_.end(), 0U);
}

void KeyTable::place(std::uint64_t hash, std::uint32_t number) noexcept {
  const auto mask = cells_.size() - 1;
  auto cell = hash & mask;
  while (cells_[cell] != 0) cell = (cell + 1) & mask;
  cells_[cell] = number;
}

void KeyTable::grow() {
  std::fill(cells_.begin(), cells_.end(), 0U);
  cells_.resize(cells_.size() * 2);
  for (std::size_t i = 0; i < entries_.size(); ++i) place(entries_[i].hash, static_cast<std::uint32_t>(i + 1));
}

}  // namespace splitcount::intake
