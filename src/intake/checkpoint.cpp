#include <intake/checkpoint.h>

#include <algorithm>

#include <base/limits.h>

namespace splitcount::intake {
namespace {

constexpr char version = 1;
constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t fixed_bytes = 1 + 8 + 8 + 2 + 32 + 32 + 1;
static_assert(fixed_bytes + name_bytes_max <= limits::checkpoint_bytes_max);

template <class T>
void put(std::string& out, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((number >> (8U * i)) & 0xFFU);
}

void put(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

/// Takes from the front; the caller has checked the size.
template <class T>
T take(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8U * i);
  bytes.remove_prefix(sizeof(T));
  return static_cast<T>(number);
}

Digest take_digest(std::string_view& bytes) {
  Digest digest{};
  std::copy_n(reinterpret_cast<const unsigned char*>(bytes.data()), digest.size(), digest.begin());
  bytes.remove_prefix(digest.size());
  return digest;
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  const auto name = std::string_view(checkpoint.name).substr(0, name_bytes_max);
  std::string out(1, version);
  put(out, checkpoint.run);
  put(out, checkpoint.lines_read);
  put(out, checkpoint.head_bytes);
  put(out, checkpoint.head);
  put(out, checkpoint.digest);
  out += static_cast<char>(name.size());
  out += name;
  return out;
}

std::optional<Checkpoint> decode(std::string_view bytes) {
  if (bytes.size() < fixed_bytes || bytes[0] != version) return std::nullopt;
  bytes.remove_prefix(1);
  Checkpoint checkpoint;
  checkpoint.run = take<std::uint64_t>(bytes);
  checkpoint.lines_read = take<std::uint64_t>(bytes);
  checkpoint.head_bytes = take<std::uint16_t>(bytes);
  checkpoint.head = take_digest(bytes);
  checkpoint.digest = take_digest(bytes);
  const auto name_bytes = take<std::uint8_t>(bytes);
  if (bytes.size() != name_bytes) return std::nullopt;
  checkpoint.name = bytes;
  return checkpoint;
}

}  // namespace splitcount::intake
