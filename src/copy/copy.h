// Moves counters to another database. What each key holds is noted there beside it, in the transaction that adds it, so
// that a copy that is run again adds the difference and nothing else: whatever was killed, and whoever counts there already.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/database.h>
#include <splitcount/error.h>

namespace splitcount::copy {

struct Progress {
  std::string_view counter;
  std::string_view doing;  ///< "copying", "comparing", ...
  std::int64_t keys = 0;   ///< so far
};

struct Options {
  std::vector<std::string> counters{};  ///< empty: all
  bool close = false;                   ///< the counters are closed at the source, and what is missing then is copied
  std::optional<std::chrono::seconds> seconds_max{};
  std::function<bool()> go_on{};        ///< asked between transactions
  std::function<void(const Progress&)> tell{};
};

/// A key, or the whole of a counter without one, that is not the same at both places.
struct Difference {
  std::string key;
  std::optional<std::int64_t> here{};   ///< at the source; unset: there is no such key
  std::optional<std::int64_t> there{};
};

/// What became of one counter.
struct Report {
  std::string counter;
  std::vector<std::string> notes{};  ///< what of its rule is another there, a sentence each
  bool closed = false;               ///< at the source, so that nothing can be missing later
  bool complete = false;             ///< closed, copied and compared
  std::int64_t keys = 0;             ///< at the source; a counter without a key has one
  std::int64_t keys_written = 0;
  std::int64_t ids_written = 0;      ///< request ids
  std::int64_t files_written = 0;    ///< positions in files that were counted
  std::int64_t keys_behind = 0;      ///< those counted in at the source while they were copied
  std::int64_t keys_ahead = 0;       ///< those that hold something else there than what was copied
  std::int64_t others_behind = 0;    ///< request ids and files that are not there as they are here
  std::vector<Difference> differences{};  ///< the first few
  bool stopped = false;              ///< by Options::go_on or seconds_max; what was written stays, and the next run goes on
  std::optional<Error> error{};      ///< why it stopped
};

[[nodiscard]] inline bool differs(const Report& report) noexcept {
  return report.keys_behind > 0 || report.keys_ahead > 0 || report.others_behind > 0;
}

/// An error is one of the whole call, and nothing was written: the same database on both sides, a counter of that name
/// there that is not from here, a newer schema, a rule that the engine does not take, missing rights. Counters come one
/// after the other, and the first that stops is the last in the answer.
[[nodiscard]] Result<std::vector<Report>> run(Database& from, Database& to, const Options& options);

}  // namespace splitcount::copy
