// Files that were counted before: the streams that stand for them, and which of them a file is.
//
// A plain pass is the stream file/<counter>/<field>/<number>, a pass with --again file/<counter>/<field>/again/<number>.
// Plain streams are only ever added and moved, never forgotten, so that taking the next free number also proves that no
// other run has added one since they were listed. A stream of an --again pass exists while that pass is unfinished.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/combiner.h>
#include <intake/checkpoint.h>
#include <intake/count.h>
#include <intake/source.h>

namespace splitcount::intake {

enum class Pass : std::uint8_t { plain, again };

/// A file as a stream has it.
struct KnownFile {
  std::string stream;
  Pass pass = Pass::plain;
  std::uint64_t number = 0;
  std::int64_t position = 0;
  Checkpoint checkpoint;
};

[[nodiscard]] std::string stream_prefix(std::string_view counter, Field field);
[[nodiscard]] std::string stream_name(std::string_view counter, Field field, Pass pass, std::uint64_t number);

/// The files known for a counter and key field. Error: schema_too_new for a checkpoint that cannot be read.
[[nodiscard]] Result<std::vector<KnownFile>> list_known(const Combiner& combiner, std::string_view counter, Field field);
/// The number after the largest of this pass; 1 where there is none.
[[nodiscard]] std::uint64_t next_number(std::span<const KnownFile> known, Pass pass) noexcept;

/// A known file whose bytes are the beginning of this one.
struct Match {
  KnownFile file;
  Sha256 state;  ///< after its position
};

struct Recognised {
  std::optional<Match> plain;  ///< the one that goes furthest
  std::optional<Match> again;
  std::string head;            ///< the file's first bytes, at most head_bytes_max; short or empty where nothing was looked for
  bool stopped = false;        ///< `go_on` said so; the rest means nothing
};

/// Finds what is known of the source, which stands at its beginning, reading no further than a known file that begins
/// like it. Afterwards source.seek to a match's position, or to 0, is possible. `go_on` is asked often.
[[nodiscard]] Result<Recognised> recognise(Source& source, std::span<const KnownFile> known,
                                           const std::function<bool()>& go_on);

/// Could a file with this head be the known one? Where the head is too short to tell: `undecided`.
[[nodiscard]] bool begins_like(const KnownFile& known, std::string_view head, bool undecided);

}  // namespace splitcount::intake
