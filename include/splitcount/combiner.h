// Combiner: adds from many threads, merged and committed as groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/database.h>

namespace splitcount {

/// Adds that belong to one piece of a stream (a file's bytes, a sender's numbers), applied once per (stream, from).
struct Batch {
  std::string_view stream;      ///< who sends: 1 to 200 bytes of UTF-8
  std::int64_t from = 0;        ///< where the stream stood before; 0: the stream is new
  std::int64_t to = 0;          ///< where it stands afterwards; to > from >= 0
  std::string_view checkpoint;  ///< bytes kept with the position, at most 1,024; given back by streams()
  std::span<const Add> adds;    ///< without request ids; may be empty
};

/// What became of a batch.
struct Applied {
  bool replay = false;  ///< the database had it already: an earlier try was committed
  struct Refused {
    std::size_t index;  ///< into Batch::adds
    Error error;
  };
  std::vector<Refused> refused;  ///< adds that could not be counted; the others were
};

/// A stream's last committed position.
struct Stream {
  std::string name;
  std::int64_t position = 0;
  std::string checkpoint;
};

/// Gathers adds from many threads, merges those of one slot, and commits them as a group: it does not wait
/// when idle, and groups form by themselves while a commit is on its way. Every add is answered as done,
/// failed or unknown by its deadline. One bad add never fails its neighbours.
/// NOT for your own transaction (use Counter::add with a Caller), and no cache: an answer follows the commit.
/// In doubt it sends the same group again under the same (stream, sequence), and nothing else.
class SPLITCOUNT_EXPORT Combiner {
 public:
  struct Limits {
    std::size_t items_max = 65'536;       ///< adds queued or on their way
    std::size_t bytes_max = 8U << 20U;    ///< bytes of keys and ids queued or on their way
    std::size_t group_items_max = 16'384; ///< adds in one transaction
    std::chrono::milliseconds wait_ms_max{1'000};  ///< how long one try of a group may wait for the database
  };
  using Done = std::function<void(std::span<const Result<Added>>)>;

  [[nodiscard]] static Result<Combiner> open(Database& database, Limits limits);
  [[nodiscard]] static Result<Combiner> open(Database& database) { return open(database, Limits{}); }

  /// Hands over adds; the views are copied. `done` is called exactly once, after the commit or at the
  /// deadline at the latest, from a thread of the combiner: it must be short and must not call the combiner's
  /// destructor. The results are in the order of the adds. An error (queue_full, deadline_exceeded, or an
  /// add that is invalid by itself) means that nothing was taken and `done` is never called.
  [[nodiscard]] Result<void> submit(const Counter& counter, std::span<const Add> adds, Deadline deadline, Done done);

  /// Applies a batch and waits for its commit. stream_conflict: the stream stands elsewhere, nothing was changed.
  [[nodiscard]] Result<Applied> apply(const Counter& counter, const Batch& batch, Deadline deadline);
  /// The streams whose name begins with `prefix`, by name.
  [[nodiscard]] Result<std::vector<Stream>> streams(std::string_view prefix) const;
  /// Forgets streams, in one transaction.
  [[nodiscard]] Result<void> forget(std::span<const std::string> streams, Deadline deadline);

  struct Counts {
    std::size_t items = 0;  ///< adds queued or on their way now
    std::size_t bytes = 0;
    std::uint64_t groups = 0;  ///< transactions committed so far
    std::uint64_t adds = 0;    ///< adds answered as done so far
  };
  [[nodiscard]] Counts counts() const;

  Combiner(Combiner&&) noexcept;
  Combiner& operator=(Combiner&&) noexcept;
  /// Finishes what was submitted, each by its deadline, then returns.
  ~Combiner();

 private:
  class Impl;
  explicit Combiner(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace splitcount
