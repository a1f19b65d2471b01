// Counts the lines of a chunk by key.
#pragma once

#include <string>

#include <intake/chunk.h>
#include <intake/count.h>

namespace splitcount::intake {

/// One a parser thread.
class Tally {
 public:
  Tally(Field field, const Bounds& bounds) : field_(field), bounds_(bounds) {}

  /// Fills chunk.pieces: one, or more where the chunk has more distinct keys than a commit may.
  void run(Chunk& chunk);

 private:
  void count(Chunk& chunk, std::string_view line, std::size_t start);
  void close_piece(Chunk& chunk, std::size_t end);

  Field field_;
  Bounds bounds_;
  KeyTable table_;
  std::string scratch_;
};

}  // namespace splitcount::intake
