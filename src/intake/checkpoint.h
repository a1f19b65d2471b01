// What is kept with a stream's position, so that a file is known again by its bytes.
//
//   version 1 | run 8 | lines 8 | head bytes 2 | head 32 | digest 32 | name bytes 1 | name 0..255     little-endian
//
// It is part of what is stored: another layout needs another version byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <intake/sha256.h>

namespace splitcount::intake {

struct Checkpoint {
  std::uint64_t run = 0;         ///< drawn by the run that wrote it: two runs never write the same checkpoint
  std::uint64_t lines_read = 0;  ///< lines up to the position, counted and rejected
  std::uint16_t head_bytes = 0;  ///< min(head_bytes_max, position)
  Digest head{};                 ///< of the first head_bytes bytes
  Digest digest{};               ///< of all bytes up to the position
  std::string name{};            ///< the file's name at that time, cut to 255 bytes
};

[[nodiscard]] std::string encode(const Checkpoint& checkpoint);
/// Nothing where the bytes are no checkpoint of a version known here.
[[nodiscard]] std::optional<Checkpoint> decode(std::string_view bytes);

}  // namespace splitcount::intake
