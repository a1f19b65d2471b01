#include <intake/known_file.h>

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include <intake/chunk.h>

namespace splitcount::intake {
namespace {

constexpr std::chrono::milliseconds wait_slice_ms{100};
constexpr std::string_view again_part = "again/";

/// The number at the end of a stream's name, and which pass it is; nothing for a name that is not ours.
std::optional<std::pair<Pass, std::uint64_t>> parse_name(std::string_view rest) {
  const auto pass = rest.starts_with(again_part) ? Pass::again : Pass::plain;
  if (pass == Pass::again) rest.remove_prefix(again_part.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return std::pair{pass, number};
}

/// Damaged compressed data ends the source here; the run that counts it meets the damage again and tells.
bool is_end(const Result<ReadResult>& got) noexcept {
  return got ? got->ended : got.error().code == ErrorCode::file_unreadable;
}

/// Reads on to `position`, hashing. False: the source ends before it, or go_on said no.
Result<bool> read_to(Source& source, std::size_t position, std::vector<char>& buffer, Sha256& state,
                     const std::function<bool()>& go_on) {
  while (source.position() < position) {
    if (!go_on()) return false;
    const auto left = std::min<std::size_t>(buffer.size(), position - source.position());
    auto got = source.read(std::span(buffer).first(left), wait_slice_ms);
    if (is_end(got)) return false;
    if (!got) return fail(std::move(got.error()));
    state.update({buffer.data(), got->bytes});
  }
  return true;
}

/// The head as far as the known files need it; shorter where the source is.
Result<std::string> read_head(Source& source, std::span<const KnownFile> known, Sha256& state,
                              const std::function<bool()>& go_on) {
  std::size_t wanted = 0;
  for (const auto& file : known) wanted = std::max<std::size_t>(wanted, file.checkpoint.head_bytes);
  std::string head;
  std::vector<char> buffer(head_bytes_max);
  while (head.size() < wanted && go_on()) {
    auto got = source.read(std::span(buffer).first(wanted - head.size()), wait_slice_ms);
    if (is_end(got)) break;
    if (!got) return fail(std::move(got.error()));
    head.append(buffer.data(), got->bytes);
  }
  state.update(head);
  return head;
}

/// The known files that begin like this one and are not longer, nearest position first.
std::vector<const KnownFile*> candidates(std::span<const KnownFile> known, std::string_view head,
                                         std::optional<std::uint64_t> size) {
  std::map<std::size_t, Digest> heads;
  std::vector<const KnownFile*> found;
  for (const auto& file : known) {
    const std::size_t bytes = file.checkpoint.head_bytes;
    if (bytes > head.size() || (size && static_cast<std::uint64_t>(file.position) > *size)) continue;
    const auto [digest, fresh] = heads.try_emplace(bytes);
    if (fresh) digest->second = Sha256::of(head.substr(0, bytes));
    if (digest->second == file.checkpoint.head) found.push_back(&file);
  }
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->position < b->position; });
  return found;
}

}  // namespace

std::string stream_prefix(std::string_view counter, Field field) {
  return fmt::format("file/{}/{}/", counter, to_text(field));
}

std::string stream_name(std::string_view counter, Field field, Pass pass, std::uint64_t number) {
  return fmt::format("{}{}{}", stream_prefix(counter, field), pass == Pass::again ? again_part : "", number);
}

Result<std::vector<KnownFile>> list_known(const Combiner& combiner, std::string_view counter, Field field) {
  const auto prefix = stream_prefix(counter, field);
  auto streams = combiner.streams(prefix);
  if (!streams) return fail(std::move(streams.error()));
  std::vector<KnownFile> known;
  known.reserve(streams->size());
  for (auto& stream : *streams) {
    const auto parsed = parse_name(std::string_view(stream.name).substr(prefix.size()));
    auto checkpoint = decode(stream.checkpoint);
    if (!parsed || !checkpoint) {
      return fail(ErrorCode::schema_too_new,
                  fmt::format("the stream {} was written by a newer splitcount, which has to count the files of this counter",
                              stream.name));
    }
    known.push_back({std::move(stream.name), parsed->first, parsed->second, stream.position, std::move(*checkpoint)});
  }
  return known;
}

std::uint64_t next_number(std::span<const KnownFile> known, Pass pass) noexcept {
  std::uint64_t last = 0;
  for (const auto& file : known) {
    if (file.pass == pass) last = std::max(last, file.number);
  }
  return last + 1;
}

bool begins_like(const KnownFile& known, std::string_view head, bool undecided) {
  if (head.size() < known.checkpoint.head_bytes) return undecided;
  return Sha256::of(head.substr(0, known.checkpoint.head_bytes)) == known.checkpoint.head;
}

Result<Recognised> recognise(Source& source, std::span<const KnownFile> known, const std::function<bool()>& go_on) {
  Recognised recognised;
  if (known.empty()) return recognised;
  source.keep();
  Sha256 read_on;
  auto head = read_head(source, known, read_on, go_on);
  if (!head) return fail(std::move(head.error()));
  recognised.head = std::move(*head);
  std::vector<char> buffer(limits::read_chunk_bytes);
  for (const auto* const file : candidates(known, recognised.head, source.plain_size())) {
    const auto position = static_cast<std::size_t>(file->position);
    Sha256 state;
    if (position <= recognised.head.size()) {
      state.update(std::string_view(recognised.head).substr(0, position));
    } else {
      auto reached = read_to(source, position, buffer, read_on, go_on);
      if (!reached) return fail(std::move(reached.error()));
      if (!*reached) break;
      state = read_on;
    }
    if (state.digest() != file->checkpoint.digest) continue;
    (file->pass == Pass::plain ? recognised.plain : recognised.again) = Match{*file, std::move(state)};
  }
  recognised.stopped = !go_on();
  source.stop_keeping();
  return recognised;
}

}  // namespace splitcount::intake
