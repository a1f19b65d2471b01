// One pass over a file, as its stream in the database: each commit moves it on, together with the counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/combiner.h>
#include <intake/known_file.h>

namespace splitcount::intake {

/// What a commit came to.
enum class Moved : std::uint8_t {
  committed,
  begin_again,  ///< another run has begun a file that may be this one; nothing was committed, look again
};

class PassStream {
 public:
  /// Goes on with `known`, or begins a new stream of this pass. `listed` is what was known when the file was looked up.
  PassStream(Combiner& combiner, const Counter& counter, Field field, Pass pass, std::vector<KnownFile> listed,
             const std::optional<KnownFile>& known, std::string file_name);

  [[nodiscard]] std::int64_t position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t lines_read() const noexcept { return lines_read_; }

  /// Commits adds and moves to `to`, having read `lines` more; `head` has at least the first
  /// min(head_bytes_max, to) bytes. `reopens`: the file can be looked at again. `applied` is filled where it committed.
  /// Errors: stream_conflict where another run is counting this file; those of Combiner::apply.
  [[nodiscard]] Result<Moved> move(std::span<const Add> adds, std::int64_t to, std::uint64_t lines, const Digest& digest,
                                   std::string_view head, bool reopens, Applied& applied);

  /// The pass with --again has reached the end of the file: from now on a plain run knows the file up to there, and
  /// the pass is over. `plain` is what a plain run knew. Two commits, in an order in which a crash between them
  /// leaves a finished pass that the next --again only has to close.
  [[nodiscard]] Result<void> finish_again(const std::optional<KnownFile>& plain);

 private:
  [[nodiscard]] Result<Applied> apply(const std::string& stream, std::span<const Add> adds, std::int64_t from,
                                      std::int64_t to);
  [[nodiscard]] Result<std::optional<Moved>> after_conflict(std::string_view head, bool reopens);
  [[nodiscard]] Result<bool> let_plain_know(const std::optional<KnownFile>& plain);

  Combiner& combiner_;
  const Counter& counter_;
  Field field_;
  Pass pass_;
  std::vector<KnownFile> listed_;
  std::string stream_;
  std::int64_t position_ = 0;
  std::uint64_t lines_read_ = 0;
  Checkpoint checkpoint_;
};

}  // namespace splitcount::intake
