#include <intake/chunk_reader.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace splitcount::intake {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds wait_slice_ms{100};  // how long a pipe is waited for before cancel is looked at
constexpr std::chrono::milliseconds linger_ms{300};      // whole lines of a slow pipe are handed on after this

}  // namespace

ChunkReader::ChunkReader(Source& source, Sha256 state, std::string head, const Bounds& bounds,
                         const std::atomic<bool>& cancel)
    : source_(source),
      state_(std::move(state)),
      head_(std::move(head)),
      bounds_(bounds),
      cancel_(cancel),
      position_(static_cast<std::int64_t>(source.position())) {}

Result<bool> ChunkReader::next(Chunk& chunk) {
  chunk.overlong = false;
  chunk.head.clear();
  std::memcpy(chunk.buffer.get(), carry_.data(), carry_.size());
  auto size = std::exchange(carry_, {}).size();
  for (;;) {
    size = fill(chunk.buffer.get(), size);
    chunk.begin = 0;
    if (skipped_ > 0 && !skip(chunk, size)) {
      size = 0;
    } else {
      const std::string_view fresh(chunk.buffer.get() + chunk.begin, size - chunk.begin);
      const auto newline = fresh.rfind('\n');
      chunk.end = chunk.begin + (newline == std::string_view::npos ? 0 : newline + 1);
      const bool has_lines = chunk.overlong || chunk.end > chunk.begin;
      if (has_lines) finish(chunk);
      const auto rest = std::string_view(chunk.buffer.get(), size).substr(chunk.end);
      if (rest.size() > carry_max(bounds_)) {
        absorb(rest);
        skipped_ = rest.size();
        skipped_start_ = rest.substr(0, reject_line_bytes_max);
        size = 0;
      } else if (has_lines || ended_) {
        carry_ = rest;
      }
      if (has_lines) return true;
    }
    if (error_) return fail(*error_);
    if (ended_ || cancel_) return false;
  }
}

/// Reads behind the first `size` bytes until the buffer is full, the source ends, or whole lines have waited enough.
std::size_t ChunkReader::fill(char* buffer, std::size_t size) {
  const auto full = size + bounds_.chunk_bytes;
  const auto started = Clock::now();
  const auto first = size;
  while (size < full && !ended_ && !cancel_) {
    if (size > first && Clock::now() - started >= linger_ms) break;
    auto got = source_.read({buffer + size, full - size}, wait_slice_ms);
    if (!got) error_ = std::move(got.error());
    ended_ = !got || got->ended;
    if (got) size += got->bytes;
  }
  return size;
}

/// Within a line that is too long: true where it ends in this buffer, and chunk.begin is behind it.
bool ChunkReader::skip(Chunk& chunk, std::size_t size) {
  const std::string_view fresh(chunk.buffer.get(), size);
  const auto newline = fresh.find('\n');
  const auto rest = fresh.substr(0, newline == std::string_view::npos ? size : newline + 1);
  absorb(rest);
  if (skipped_start_.size() < reject_line_bytes_max) {
    skipped_start_ += rest.substr(0, reject_line_bytes_max - skipped_start_.size());
  }
  skipped_ += rest.size();
  if (newline == std::string_view::npos) return false;
  position_ += static_cast<std::int64_t>(std::exchange(skipped_, 0));
  chunk.begin = rest.size();
  chunk.overlong = true;
  chunk.overlong_start = std::exchange(skipped_start_, {});
  return true;
}

/// Whole lines stand in buffer[begin, end): what the parser and the commit need to know of them.
void ChunkReader::finish(Chunk& chunk) {
  chunk.lines_at = position_;
  chunk.to = position_ + static_cast<std::int64_t>(chunk.end - chunk.begin);
  chunk.before_lines = state_;
  absorb(chunk.lines());
  chunk.digest = state_.digest();
  if (head_.size() != head_sent_) chunk.head = head_;
  head_sent_ = head_.size();
  chunk.raw_position = source_.raw_position();
  position_ = chunk.to;
}

void ChunkReader::absorb(std::string_view bytes) {
  state_.update(bytes);
  if (head_.size() < head_bytes_max) head_ += bytes.substr(0, head_bytes_max - head_.size());
}

}  // namespace splitcount::intake
