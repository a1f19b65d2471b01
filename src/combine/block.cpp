#include <combine/block.h>

#include <algorithm>
#include <cstring>

namespace splitcount::combine {

namespace {
constexpr std::size_t chunk_bytes = 64U << 10U;  // far more than a key and an id together
constexpr std::size_t chunks_kept_max = 16;
constexpr std::size_t lanes_searched_max = 8;
}  // namespace

std::string_view Arena::keep(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (chunks_.empty() || used_ + bytes.size() > chunk_bytes) {
    if (!chunks_.empty()) ++chunk_;
    if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<char[]>(chunk_bytes));
    used_ = 0;
  }
  char* place = chunks_[chunk_].get() + used_;
  std::memcpy(place, bytes.data(), bytes.size());
  used_ += bytes.size();
  return {place, bytes.size()};
}

void Arena::clear() noexcept {
  if (chunks_.size() > chunks_kept_max) chunks_.resize(chunks_kept_max);
  chunk_ = 0;
  used_ = 0;
}

std::uint32_t Block::lane_of(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked) {
  // Looking further back would cost more than a second lane of the same counter does.
  const std::size_t first = lanes.size() - std::min(lanes.size(), lanes_searched_max);
  for (std::size_t i = lanes.size(); i-- > first;) {
    if (lanes[i].handle == handle && lanes[i].checked == checked) return static_cast<std::uint32_t>(i);
  }
  lanes.push_back({handle, checked});
  return static_cast<std::uint32_t>(lanes.size() - 1);
}

void Block::append(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                   std::span<const Add> added, Deadline deadline, Combiner::Done&& done) {
  const auto entry = static_cast<std::uint32_t>(waiting.size());
  const auto first = static_cast<std::uint32_t>(adds.size());
  for (const Add& add : added) {
    Add& kept = adds.emplace_back(add);
    kept.key = arena.keep(add.key);
    kept.request_id = arena.keep(add.request_id);
    owner.push_back(entry);
    bytes += add.key.size() + add.request_id.size();
  }
  waiting.push_back(
      {std::move(done), deadline, first, static_cast<std::uint32_t>(added.size()), lane_of(handle, checked)});
  earliest = std::min(earliest, deadline);
}

void Block::drop_answered() {
  Block rest;
  for (Waiting& entry : waiting) {
    if (entry.answered) continue;
    const Lane& lane = lanes[entry.lane];
    rest.append(lane.handle, lane.checked, std::span(adds).subspan(entry.first, entry.count), entry.deadline,
                std::move(entry.done));
  }
  *this = std::move(rest);
}

void Block::clear() noexcept {
  waiting.clear();
  adds.clear();
  owner.clear();
  lanes.clear();
  bytes = 0;
  dead = 0;
  earliest = Deadline::max();
  arena.clear();
}

std::size_t bytes_of(std::span<const Add> adds) noexcept {
  std::size_t bytes = 0;
  for (const Add& add : adds) bytes += add.key.size() + add.request_id.size();
  return bytes;
}

}  // namespace splitcount::combine
