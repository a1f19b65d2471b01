#include <combine/queue.h>

#include <algorithm>

#include <fmt/format.h>

#include <base/limits.h>

namespace splitcount::combine {

namespace {

/// Brings the answers to the parts of one long submission together.
struct Parts {
  std::vector<Result<Added>> results;
  std::size_t open;  ///< parts without an answer
  Combiner::Done done;
  Mutex mutex;

  void answer(std::size_t first, std::span<const Result<Added>> answers) {
    {
      Lock lock(mutex);  // the watcher and the committer may answer two parts at once
      std::copy(answers.begin(), answers.end(), results.begin() + static_cast<std::ptrdiff_t>(first));
      if (--open > 0) return;
    }
    done(results);
  }
};

std::uint64_t count_done(std::span<const Result<Added>> answers) {
  return static_cast<std::uint64_t>(
      std::count_if(answers.begin(), answers.end(), [](const Result<Added>& one) { return one.has_value(); }));
}

Error overdue_error(bool sent, const std::string& trouble) {
  if (!sent) {
    return {ErrorCode::deadline_exceeded,
            fmt::format("the deadline passed before the add could be sent, and nothing was counted{}{}",
                        trouble.empty() ? "" : ": ", trouble)};
  }
  Error error{ErrorCode::outcome_unknown, "the deadline passed while the add was on its way to the database"};
  error.outcome_unknown = true;
  return error;
}

}  // namespace

// --- Those who submit

Result<void> Queue::check_room(std::size_t items, std::size_t bytes) const {
  if (items > limits_.items_max || bytes > limits_.bytes_max) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} adds with {} bytes of keys and ids never fit into a queue of {} adds and {} bytes",
                            items, bytes, limits_.items_max, limits_.bytes_max));
  }
  if (counts_.items + items > limits_.items_max || counts_.bytes + bytes > limits_.bytes_max) {
    Error error{ErrorCode::queue_full, fmt::format("the queue is full, with {} of {} adds and {} of {} bytes",
                                                   counts_.items, limits_.items_max, counts_.bytes, limits_.bytes_max)};
    error.retryable = true;
    return fail(std::move(error));
  }
  return {};
}

Block& Queue::block_with_room(std::size_t items) {
  if (queued_.empty() || queued_.back()->adds.size() + items > limits_.group_items_max) {
    queued_.push_back(spare_ ? std::move(spare_) : std::make_unique<Block>());
  }
  return *queued_.back();
}

void Queue::append(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                   std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) {
  block_with_room(adds.size()).append(handle, checked, adds, deadline, std::move(done));
}

/// More adds than fit into one group become several entries, which are answered together.
void Queue::append_in_parts(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                            std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) {
  const std::size_t part = limits_.group_items_max;
  auto parts = std::make_shared<Parts>();
  parts->results.resize(adds.size());
  parts->open = (adds.size() + part - 1) / part;
  parts->done = std::move(done);
  for (std::size_t first = 0; first < adds.size(); first += part) {
    append(handle, checked, adds.subspan(first, std::min(part, adds.size() - first)), deadline,
           [parts, first](std::span<const Result<Added>> answers) { parts->answer(first, answers); });
  }
}

Result<void> Queue::push(const std::shared_ptr<counter::Handle>& handle, const counter::StoredRule& checked,
                         std::span<const Add> adds, Deadline deadline, Combiner::Done&& done) {
  const std::size_t bytes = bytes_of(adds);
  bool wake_committer = false;
  bool wake_watcher = false;
  {
    Lock lock(mutex_);
    if (auto room = check_room(adds.size(), bytes); !room) return room;
    if (adds.size() <= limits_.group_items_max) {
      append(handle, checked, adds, deadline, std::move(done));
    } else {
      append_in_parts(handle, checked, adds, deadline, std::move(done));
    }
    counts_.items += adds.size();
    counts_.bytes += bytes;
    wake_committer = std::exchange(committer_sleeps_, false);
    wake_watcher = std::exchange(watcher_sleeps_, false);
  }
  if (wake_committer) work_.notify_one();
  if (wake_watcher) pending_.notify_one();
  return {};
}

Combiner::Counts Queue::counts() const {
  Lock lock(mutex_);
  return counts_;
}

void Queue::close() {
  {
    Lock lock(mutex_);
    closed_ = true;
  }
  work_.notify_one();
}

// --- The committer

Block* Queue::next() {
  Lock lock(mutex_);
  while (queued_.empty()) {
    if (closed_) return nullptr;
    committer_sleeps_ = true;
    work_.wait(mutex_);
  }
  committer_sleeps_ = false;
  current_ = std::move(queued_.front());
  queued_.pop_front();
  sent_ = false;
  return current_.get();
}

void Queue::send(Items& items) {
  Lock lock(mutex_);
  sent_ = true;
  trouble_.clear();
  if (current_->dead == 0) return;
  std::erase_if(items,
                [block = current_.get()](std::uint32_t item) { return block->waiting[block->owner[item]].answered; });
}

void Queue::hold() {
  Lock lock(mutex_);
  sent_ = false;
}

void Queue::set_trouble(std::string trouble) {
  Lock lock(mutex_);
  trouble_ = std::move(trouble);
}

bool Queue::anybody_waits(const Items& items) const {
  Lock lock(mutex_);
  return std::any_of(items.begin(), items.end(), [block = current_.get()](std::uint32_t item) {
    return !block->waiting[block->owner[item]].answered;
  });
}

bool Queue::is_closed() const {
  Lock lock(mutex_);
  return closed_;
}

void Queue::finish(std::span<const Result<Added>> results, std::uint64_t groups) {
  std::unique_ptr<Block> block = take_current();
  std::uint64_t done = 0;
  for (const Waiting& entry : block->waiting) {
    if (!entry.answered) done += count_done(results.subspan(entry.first, entry.count));
  }
  {
    Lock lock(mutex_);
    counts_.items -= block->adds.size();
    counts_.bytes -= block->bytes;
    counts_.groups += groups;
    counts_.adds += done;
  }
  for (Waiting& entry : block->waiting) {
    if (!entry.answered) entry.done(results.subspan(entry.first, entry.count));
  }
  block->clear();
  Lock lock(mutex_);
  if (!spare_) spare_ = std::move(block);
}

/// Out of the watcher's reach.
std::unique_ptr<Block> Queue::take_current() {
  Lock lock(mutex_);
  return std::move(current_);
}

// --- The watcher

void Queue::take_overdue(Block& block, Deadline now, bool sent, std::vector<Overdue>& overdue) {
  if (block.earliest > now) return;
  block.earliest = Deadline::max();
  for (Waiting& entry : block.waiting) {
    if (entry.answered) continue;
    if (entry.deadline > now) {
      block.earliest = std::min(block.earliest, entry.deadline);
      continue;
    }
    entry.answered = true;
    block.dead += entry.count;
    overdue.push_back({std::move(entry.done), entry.count, sent});
  }
}

void Queue::take_overdue(Deadline now, std::vector<Overdue>& overdue) {
  if (current_) take_overdue(*current_, now, sent_, overdue);
  for (std::unique_ptr<Block>& block : queued_) {
    take_overdue(*block, now, false, overdue);
    if (block->dead * 2 <= block->adds.size()) continue;
    // The dead hold memory that counts against the bounds.
    counts_.items -= block->dead;
    counts_.bytes -= block->bytes;
    block->drop_answered();
    counts_.bytes += block->bytes;
  }
  std::erase_if(queued_, [](const std::unique_ptr<Block>& block) { return block->adds.empty(); });
}

void Queue::answer(std::vector<Overdue>& overdue, const std::string& trouble) {
  for (Overdue& one : overdue) {
    const std::vector<Result<Added>> answers(one.count, Result<Added>(fail(overdue_error(one.sent, trouble))));
    one.done(answers);
  }
  overdue.clear();
}

void Queue::watch() {
  std::vector<Overdue> overdue;
  std::string trouble;
  for (;;) {
    {
      Lock lock(mutex_);
      if (!watching_) return;
      if (counts_.items == 0) {
        watcher_sleeps_ = true;
        pending_.wait(mutex_);
        watcher_sleeps_ = false;
      } else {
        pending_.wait_until(mutex_,
                            std::chrono::steady_clock::now() + std::chrono::milliseconds(limits::deadline_tick_ms));
      }
      take_overdue(std::chrono::steady_clock::now(), overdue);
      if (!overdue.empty()) trouble = trouble_;
    }
    answer(overdue, trouble);
  }
}

void Queue::stop_watching() {
  {
    Lock lock(mutex_);
    watching_ = false;
  }
  pending_.notify_one();
}

}  // namespace splitcount::combine
