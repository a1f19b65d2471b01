// The queue between those who submit, the one committer, and the watcher of deadlines.
//
//   submit ──> [ block ][ block ][ block being filled ]        queued: past its deadline an add is deadline_exceeded,
//                  │ next()                                    and is never sent
//                  v
//              current: held ──send()──> sent                  sent: past its deadline the outcome is unknown
//                  │       <──hold()──                         (held again: the database said that nothing was kept)
//                  v finish()
//              out of the watcher's reach, to be answered
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <splitcount/combiner.h>

#include <base/thread_annotations.h>
#include <combine/block.h>

namespace splitcount::combine {

/// Adds of a block, as places in Block::adds, ascending.
using Items = std::vector<std::uint32_t>;

class Queue {
 public:
  explicit Queue(const Combiner::Limits& limits) : limits_(limits) {}

  // --- Those who submit
  /// Copies adds that were checked by `checked`. Errors: queue_full, invalid_argument where they would never fit.
  [[nodiscard]] Result<void> push(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                                  std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) EXCLUDES(mutex_);
  [[nodiscard]] Combiner::Counts counts() const EXCLUDES(mutex_);
  /// Nothing more is submitted: next() returns null once everything is answered.
  void close() EXCLUDES(mutex_);

  // --- The committer
  /// The next block, held; waits for one. Null: closed and empty.
  [[nodiscard]] Block* next() EXCLUDES(mutex_);
  /// The current block is on its way; takes those out of `items` whose caller has been answered.
  void send(Items& items) EXCLUDES(mutex_);
  /// The current block is not on its way any more, and nothing of it was kept.
  void hold() EXCLUDES(mutex_);
  /// Why nothing gets through just now, for those whose deadline passes meanwhile; until something is sent.
  void set_trouble(std::string trouble) EXCLUDES(mutex_);
  /// Somebody still waits for an answer to one of these adds of the current block.
  [[nodiscard]] bool anybody_waits(const Items& items) const EXCLUDES(mutex_);
  [[nodiscard]] bool is_closed() const EXCLUDES(mutex_);
  /// Answers the current block and lets go of it: results[i] belongs to Block::adds[i]. `groups`: transactions that
  /// were committed for it.
  void finish(std::span<const Result<Added>> results, std::uint64_t groups) EXCLUDES(mutex_);

  // --- The watcher
  /// Answers adds whose deadline has passed, until stop_watching().
  void watch() EXCLUDES(mutex_);
  void stop_watching() EXCLUDES(mutex_);

 private:
  /// An entry that was taken out to be answered without the lock.
  struct Overdue {
    Combiner::Done done;
    std::uint32_t count;
    bool sent;
  };

  [[nodiscard]] Result<void> check_room(std::size_t items, std::size_t bytes) const REQUIRES(mutex_);
  Block& block_with_room(std::size_t items) REQUIRES(mutex_);
  void append(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
              std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) REQUIRES(mutex_);
  void append_in_parts(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                       std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) REQUIRES(mutex_);
  [[nodiscard]] std::unique_ptr<Block> take_current() EXCLUDES(mutex_);
  void take_overdue(Deadline now, std::vector<Overdue>& overdue) REQUIRES(mutex_);
  static void take_overdue(Block& block, Deadline now, bool sent, std::vector<Overdue>& overdue);
  static void answer(std::vector<Overdue>& overdue, const std::string& trouble);

  const Combiner::Limits limits_;
  mutable Mutex mutex_;
  Condition work_;     ///< for the committer
  Condition pending_;  ///< for the watcher
  std::deque<std::unique_ptr<Block>> queued_ GUARDED_BY(mutex_);
  std::unique_ptr<Block> current_ GUARDED_BY(mutex_);  ///< the committer reads its adds without the lock
  std::unique_ptr<Block> spare_ GUARDED_BY(mutex_);
  Combiner::Counts counts_ GUARDED_BY(mutex_);
  bool sent_ GUARDED_BY(mutex_) = false;  ///< current_ is on its way
  std::string trouble_ GUARDED_BY(mutex_);
  bool committer_sleeps_ GUARDED_BY(mutex_) = false;
  bool watcher_sleeps_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool watching_ GUARDED_BY(mutex_) = true;
};

}  // namespace splitcount::combine
