// Cuts a source at its newlines into chunks of whole lines, hashing on the way.
//
//   |--- chunk n -------------------|--- chunk n+1 ------------- ...
//   line\nline\nline\nbegin of a li | begin of a line\nline\n       the unfinished rest is carried into the next chunk
//
// A line that is too long is read past without being kept; a last line without a newline is never handed out.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <splitcount/error.h>
#include <intake/chunk.h>
#include <intake/source.h>

namespace splitcount::intake {

class ChunkReader {
 public:
  /// Goes on at source.position(); `state` is the hash of the bytes before, `head` the first of them (at most
  /// head_bytes_max). `cancel` ends the waiting for a pipe.
  ChunkReader(Source& source, Sha256 state, std::string head, const Bounds& bounds, const std::atomic<bool>& cancel);

  /// Fills the chunk's reader fields. False: there are no more whole lines, or it was cancelled. After an error the
  /// lines before it have been handed out.
  [[nodiscard]] Result<bool> next(Chunk& chunk);

  /// Bytes behind the last whole line. Right once next() returned false or an error.
  [[nodiscard]] std::uint64_t unfinished() const noexcept { return carry_.size() + skipped_; }

  [[nodiscard]] static std::size_t buffer_bytes(const Bounds& bounds) { return bounds.chunk_bytes + carry_max(bounds); }

 private:
  /// A line of exactly the limit may still get its carriage return.
  [[nodiscard]] static std::size_t carry_max(const Bounds& bounds) { return bounds.line_bytes_max + 1; }
  [[nodiscard]] std::size_t fill(char* buffer, std::size_t size);
  bool skip(Chunk& chunk, std::size_t size);
  void finish(Chunk& chunk);
  void absorb(std::string_view bytes);

  Source& source_;
  Sha256 state_;
  std::string head_;
  std::size_t head_sent_ = 0;
  Bounds bounds_;
  const std::atomic<bool>& cancel_;
  std::int64_t position_;      ///< of the first byte that was not handed out
  std::string carry_;          ///< the begin of a line, not hashed yet
  std::uint64_t skipped_ = 0;  ///< bytes of a line that is too long, hashed and dropped; 0: not in one
  std::string skipped_start_;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace splitcount::intake
