// A chunk: whole lines of a file on their way from the reader through a parser to the commit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <base/limits.h>
#include <intake/arena.h>
#include <intake/key_table.h>
#include <intake/reason.h>
#include <intake/sha256.h>

namespace splitcount::intake {

/// The bounds of a run; tests make them small.
struct Bounds {
  std::size_t chunk_bytes = limits::read_chunk_bytes;
  std::size_t line_bytes_max = limits::log_line_bytes_max;
  std::size_t chunks_max = limits::chunks_in_flight_max;
  std::size_t group_keys_max = limits::call_items_max;  ///< distinct keys in one commit
  std::size_t group_key_bytes_max = 8U << 20U;          ///< their bytes; a chunk has fewer
  std::int64_t group_bytes = 64LL << 20U;               ///< a commit at the latest after so many bytes of the file
  std::chrono::milliseconds progress_every_ms{100};     ///< progress is told at most so often
};

inline constexpr std::size_t head_bytes_max = 4096;        ///< of a file, to tell unknown files without reading on
inline constexpr std::size_t reject_line_bytes_max = 4096; ///< of a rejected line, in the rejects file

/// A stretch of lines that ends with one, counted by key.
struct Piece {
  std::int64_t to = 0;   ///< where it ends in the file
  Digest digest{};       ///< of all bytes of the file up to there
  std::uint64_t lines = 0;
  ReasonTally rejects{};
  std::vector<KeyTable::Entry> keys;  ///< views into the chunk
  std::size_t key_bytes = 0;
};

struct Chunk {
  // From the reader
  std::unique_ptr<char[]> buffer;
  std::size_t begin = 0;  ///< the lines are buffer[begin, end), and the last byte is a newline
  std::size_t end = 0;
  bool overlong = false;      ///< before them one line was read past
  std::string overlong_start; ///< its first bytes, at most reject_line_bytes_max
  std::int64_t lines_at = 0;  ///< where buffer[begin] lies in the file
  std::int64_t to = 0;        ///< where buffer[end] lies
  Sha256 before_lines;        ///< the state up to lines_at
  Digest digest{};            ///< of all bytes up to `to`
  std::string head;           ///< the file's first bytes (at most head_bytes_max, at least up to `to`); empty: as before
  std::uint64_t raw_position = 0;  ///< progress: bytes of the file on disk read so far

  // From the parser
  std::vector<Piece> pieces;
  Arena decoded;  ///< keys that are not a part of their line

  [[nodiscard]] std::string_view lines() const noexcept { return {buffer.get() + begin, end - begin}; }
};

}  // namespace splitcount::intake
