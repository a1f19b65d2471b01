#include <intake/tally.h>

#include <intake/access_log.h>

namespace splitcount::intake {

void Tally::run(Chunk& chunk) {
  chunk.pieces.clear();
  chunk.decoded.clear();
  auto& first = chunk.pieces.emplace_back();
  if (chunk.overlong) {
    ++first.lines;
    ++first.rejects[index_of(Reason::line_too_long)];
  }
  each_line(chunk.lines(), [&](std::string_view line, std::size_t start) { count(chunk, line, start); });
  close_piece(chunk, chunk.lines().size());
}

void Tally::count(Chunk& chunk, std::string_view line, std::size_t start) {
  auto reading = read_key(line, field_, bounds_.line_bytes_max, scratch_);
  if (reading.reason == Reason::none) {
    const auto hash = hash_key(reading.text);
    if (auto* const entry = table_.find(reading.text, hash)) {
      ++entry->count;
      ++chunk.pieces.back().lines;
      return;
    }
    reading.reason = key_reason(reading.text);  // a key in the table has passed it
    if (reading.reason == Reason::none) {
      if (table_.size() == bounds_.group_keys_max) {
        close_piece(chunk, start);
        chunk.pieces.emplace_back();
      }
      const bool is_decoded = reading.text.data() == scratch_.data();
      const auto key = is_decoded ? chunk.decoded.keep(reading.text) : reading.text;
      table_.insert({hash, key, 1});
      chunk.pieces.back().key_bytes += key.size();
    }
  }
  auto& piece = chunk.pieces.back();
  ++piece.lines;
  if (reading.reason != Reason::none) ++piece.rejects[index_of(reading.reason)];
}

/// The piece ends before lines()[end].
void Tally::close_piece(Chunk& chunk, std::size_t end) {
  auto& piece = chunk.pieces.back();
  piece.keys = table_.take();
  piece.to = chunk.lines_at + static_cast<std::int64_t>(end);
  if (piece.to == chunk.to) {
    piece.digest = chunk.digest;
    return;
  }
  auto state = chunk.before_lines;  // hashed a second time, here beside the reader, and only for very many keys
  state.update(chunk.lines().substr(0, end));
  piece.digest = state.digest();
}

}  // namespace splitcount::intake
