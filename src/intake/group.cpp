#include <intake/group.h>

namespace splitcount::intake {

bool Group::has_room(const Piece& piece, const Bounds& bounds) const noexcept {
  return empty() || (table_.size() + piece.keys.size() <= bounds.group_keys_max &&
                     keys_.used() + piece.key_bytes <= bounds.group_key_bytes_max);
}

void Group::merge(const Piece& piece) {
  for (const auto& entry : piece.keys) {
    if (auto* const known = table_.find(entry.key, entry.hash)) {
      known->count += entry.count;
    } else {
      table_.insert({entry.hash, keys_.keep(entry.key), entry.count});
    }
  }
  to_ = piece.to;
  digest_ = piece.digest;
  lines_ += piece.lines;
  for (std::size_t i = 0; i < reasons_count; ++i) rejects_[i] += piece.rejects[i];
}

void Group::clear() {
  table_.clear();
  keys_.clear();
  lines_ = 0;
  rejects_ = {};
}

std::vector<Add> Group::adds() const {
  std::vector<Add> adds;
  adds.reserve(table_.size());
  for (const auto& entry : table_.entries()) {
    adds.push_back({.key = entry.key, .amount = static_cast<std::int64_t>(entry.count)});
  }
  return adds;
}

}  // namespace splitcount::intake
