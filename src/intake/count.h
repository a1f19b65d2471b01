// Counting a file's lines into a counter, each line once.
//
// A file is known, per counter and key field, by the (decompressed) bytes up to the committed position and not by its
// name: longer files that begin with them are the same file, grown. The position is a stream (Combiner::apply) and
// commits together with its counts, so a run that is killed anywhere goes on where it stopped. A copy that is shorter
// than what was committed is another file.
//
// A last line without a newline waits for the next run, in a plain file as in a .gz or a pipe, so that a file is the same
// however it comes. Compressed data that is damaged or cut is counted up to there, and then it is an error.
//
// A pass with CountOptions::again has a position of its own until it has reached the end of the file; then a run without
// it knows the file up to there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <splitcount/combiner.h>

namespace splitcount::intake {

enum class Format : std::uint8_t { automatic, combined, common, lines };
enum class Field : std::uint8_t { target, path, host, status, referer, agent, line };

[[nodiscard]] std::string_view to_text(Format format) noexcept;
[[nodiscard]] std::string_view to_text(Field field) noexcept;
/// Error: invalid_argument, naming the words that are right.
[[nodiscard]] Result<Format> parse_format(std::string_view text);
[[nodiscard]] Result<Field> parse_field(std::string_view text);

struct Progress {
  std::uint64_t bytes_done = 0;                     ///< of the file as it lies on disk
  std::optional<std::uint64_t> bytes_total{};       ///< unset for a pipe
  std::uint64_t lines_read = 0;                     ///< in this run
};

struct CountOptions {
  Format format = Format::automatic;
  Field field = Field::target;
  int parsers = 0;            ///< threads that parse; 0: the cores
  bool again = false;         ///< count everything once more
  std::string rejects_path{}; ///< rejected lines are appended here, each with its reason; empty: they are only tallied
  std::function<void(const Progress&)> progress{};  ///< from the calling thread, at most ten times a second
  const std::atomic<bool>* stop = nullptr;  ///< set (by a signal handler, say): commit what was parsed, then return
};

/// What one run did with one file, and what is known of the file from before.
struct CountReport {
  std::uint64_t lines_read = 0;      ///< in this run
  std::uint64_t lines_counted = 0;   ///< committed in this run
  std::map<std::string, std::uint64_t> rejects;  ///< reason -> lines, in this run
  std::uint64_t lines_before = 0;    ///< lines of this file that earlier runs had read
  std::uint64_t bytes_before = 0;    ///< (decompressed) bytes that earlier runs had committed
  std::uint64_t bytes_read = 0;      ///< (decompressed) bytes committed in this run
  std::uint64_t bytes_unfinished = 0;  ///< of a last line without a newline, which waits for the next run
  bool known = false;                ///< the file, or its beginning, was counted before
  std::string known_as{};            ///< the name under which it was counted last, at most 255 bytes; where known
  bool stopped = false;              ///< CountOptions::stop was set before the end; run it again for the rest
  bool resumed_again = false;        ///< this run finished an earlier --again that was stopped
  bool again_unfinished = false;     ///< an --again of this file was stopped and waits to be run again
  std::optional<Error> error{};      ///< why the run stopped; what it reports was committed before that
};

/// `path`: a file (plain or .gz, told by its bytes), or "-" for standard input.
[[nodiscard]] CountReport count_file(Combiner& combiner, const Counter& counter, std::string_view path,
                                     const CountOptions& options);

}  // namespace splitcount::intake
