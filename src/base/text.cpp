#include <base/text.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace splitcount {
namespace {

/// One character at the front of `bytes`; length 0: the first byte begins no valid one.
struct Character {
  std::size_t length = 0;
  char32_t code = 0;
};

Character first_character(std::string_view bytes) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {};  // a continuation byte, an overlong form, or beyond U+10FFFF
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes.size() < length) return {};
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (at(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {length, code};
}

/// Characters that move the cursor, break or reorder the line, or cannot be seen.
bool is_unprintable(char32_t code) noexcept {
  const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0xAD || code == 0x61C || within(0x200B, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF || within(0xFFF9, 0xFFFB) ||
         within(0xE0000, 0xE007F);
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment) from `from` to `to`;
/// what exceeds `most` may come out as anything above it.
std::size_t edit_distance(std::string_view from, std::string_view to, std::size_t most) {
  const std::size_t apart = from.size() > to.size() ? from.size() - to.size() : to.size() - from.size();
  if (apart > most) return most + 1;
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> above(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[to.size()];
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  constexpr std::uint64_t high_bits = 0x8080808080808080U;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at >= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if ((word & high_bits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const std::size_t length = first_character(bytes.substr(at)).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string quoted(std::string_view bytes, std::size_t bytes_max) {
  std::string text = "\"";
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Character character = first_character(bytes.substr(at));
    const std::size_t length = std::max<std::size_t>(character.length, 1);
    if (at + length > bytes_max) {
      text += "...";
      break;
    }
    const std::string_view piece = bytes.substr(at, length);
    at += length;
    if (piece == "\"" || piece == "\\") {
      text += '\\';
      text += piece;
    } else if (character.length == 0 || is_unprintable(character.code)) {
      for (const char byte : piece) text += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    } else {
      text += piece;
    }
  }
  text += '"';
  return text;
}

std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    // A slip is one change in three bytes; in shorter names everything would be near everything.
    const std::size_t slip = std::max(name.size(), candidate.size()) / 3;
    const std::size_t distance = edit_distance(name, candidate, slip);
    if (distance > slip || (!best.empty() && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace splitcount
