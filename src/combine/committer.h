// The one thread that commits groups, on a connection of its own.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <splitcount/combiner.h>

#include <combine/queue.h>
#include <counter/store.h>
#include <engine/engine.h>

namespace splitcount::combine {

/// Takes blocks from the queue and commits each as one transaction that also moves the committer's own stream from
/// n to n + 1, so that the group is known under (stream, n + 1):
///
///   begin -> move the stream -> apply, counter by counter -> commit -> answer
///     moved          the group is not in the database: apply it
///     was there      an earlier try, whose commit was in doubt, had been committed: its answers stand
///
/// A commit in doubt is settled by sending the same group again, on a new connection, before any later group is sent.
/// A group that the database refuses as a whole for the sake of one add is split in halves until that add is alone.
class Committer {
 public:
  Committer(std::shared_ptr<counter::Store> store, Queue& queue, std::chrono::milliseconds wait_ms_max);

  /// Until the queue is closed and empty; then the stream is removed.
  void run();

 private:
  /// What became of one transaction.
  enum class Outcome : std::uint8_t {
    settled,  ///< results_ has the answers, or nobody waits for them any more
    again,    ///< in doubt, or given up by the database for a reason that may pass
    failed,   ///< nothing was kept; error_ says why
  };

  /// A group on its way.
  struct Group {
    Items& items;
    bool in_doubt = false;  ///< an earlier try may have been committed
    int tries = 0;          ///< transactions begun
  };

  void commit_block(Block& block);
  [[nodiscard]] Outcome commit(Block& block, Items& items);
  [[nodiscard]] Outcome try_once(Block& block, Group& group);
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Outcome after_commit();
  [[nodiscard]] Outcome after_failure(Group& group, Error error);
  [[nodiscard]] Outcome after_lost_stream(Block& block, Group& group, Error error);

  [[nodiscard]] std::optional<Error> apply(Block& block, const Items& items);
  [[nodiscard]] std::optional<Error> apply_by_counter(Block& block, const Items& items);
  [[nodiscard]] std::optional<Error> apply_run(Block& block, std::span<const std::uint32_t> items);

  std::vector<Result<Added>>& results_of(const Block& block);
  void answer_all(const Block& block, const Items& items, const Error& error);
  void start_stream();
  void remove_stream();

  const std::shared_ptr<counter::Store> store_;
  Queue& queue_;
  const std::chrono::milliseconds wait_ms_max_;

  std::unique_ptr<engine::Connection> connection_;
  std::string stream_;
  std::int64_t position_ = 0;      ///< of the stream, as far as it is settled
  bool stream_unsettled_ = false;  ///< given up in doubt: the stream's row must stay
  int patience_ = 1;               ///< how many times wait_ms_max_ a try may last

  // Of the current block
  std::vector<Result<Added>> results_;  ///< empty until the first answers are known
  std::uint64_t groups_ = 0;            ///< committed for it
  Error error_;                         ///< of the last try
  std::vector<Add> scratch_;            ///< the adds of one counter
};

}  // namespace splitcount::combine
