// Combiner: the threads, and the checks of what is handed over.
#include <splitcount/combiner.h>

#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <combine/batch.h>
#include <combine/committer.h>
#include <combine/queue.h>
#include <counter/access.h>
#include <counter/transaction.h>
#include <counter/write.h>
#include <rule/pick.h>

namespace splitcount {

using counter::Access;

namespace {

/// A thread that is told to end, and waited for, when this goes.
class Thread {
 public:
  Thread(std::function<void()> run, std::function<void()> end) : end_(std::move(end)), thread_(std::move(run)) {}
  ~Thread() {
    end_();
    thread_.join();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  const std::function<void()> end_;
  std::thread thread_;
};

}  // namespace

class Combiner::Impl {
 public:
  Impl(std::shared_ptr<counter::Store> shared, const Limits& limits)
      : store(std::move(shared)),
        queue(limits),
        committer(store, queue, limits.wait_ms_max),
        watching([this] { queue.watch(); }, [this] { queue.stop_watching(); }),
        committing([this] { committer.run(); }, [this] { queue.close(); }) {}

  const std::shared_ptr<counter::Store> store;
  combine::Queue queue;
  combine::Committer committer;
  Thread watching;    // watches until the last add is answered,
  Thread committing;  // which the end of this one waits for
};

namespace {

Result<void> check_limits(const Combiner::Limits& limits) {
  constexpr std::chrono::hours wait_max{24};
  const bool right = limits.items_max >= 1 && limits.bytes_max >= 1 && limits.group_items_max >= 1 &&
                     limits.group_items_max <= limits::group_items_max && limits.wait_ms_max.count() >= 1 &&
                     limits.wait_ms_max <= wait_max;
  if (right) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("a combiner of {} items, {} bytes, {} items a group and {} ms cannot work; each is at least 1, a "
                  "group at most {} items and the wait at most 24 h",
                  limits.items_max, limits.bytes_max, limits.group_items_max, limits.wait_ms_max.count(),
                  limits::group_items_max));
}

Result<void> check_deadline(Deadline deadline) {
  if (std::chrono::steady_clock::now() < deadline) return {};
  return fail(ErrorCode::deadline_exceeded, "the deadline had passed already; nothing was sent");
}

Result<void> check_same_database(const counter::Store& ours, const counter::Handle& handle) {
  if (&handle.store() == &ours) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("the counter {} belongs to another Database than this combiner", handle.name()));
}

}  // namespace

Combiner::Combiner(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Combiner::Combiner(Combiner&&) noexcept = default;
Combiner& Combiner::operator=(Combiner&&) noexcept = default;
Combiner::~Combiner() = default;

Result<Combiner> Combiner::open(Database& database, Limits limits) {
  if (auto right = check_limits(limits); !right) return fail(std::move(right.error()));
  try {
    return Combiner(std::make_unique<Impl>(Access::store(database), limits));
  } catch (const std::system_error& refusal) {
    return fail(ErrorCode::internal, fmt::format("the combiner's threads could not be started: {}", refusal.what()));
  }
}

Result<void> Combiner::submit(const Counter& counter, std::span<const Add> adds, Deadline deadline, Done done) {
  const std::shared_ptr<counter::Handle>& handle = Access::handle(counter);
  if (adds.empty() || !done)
    return fail(ErrorCode::invalid_argument, "submit takes at least one add and somebody to answer");
  if (auto right = check_same_database(*impl_->store, *handle); !right) return right;
  if (auto right = check_deadline(deadline); !right) return right;
  auto checked = counter::check(*handle, adds, deadline);
  if (!checked) return fail(std::move(checked.error()));
  return impl_->queue.push(handle, *checked, adds, deadline, std::move(done));
}

Result<Applied> Combiner::apply(const Counter& counter, const Batch& batch, Deadline deadline) {
  counter::Handle& handle = *Access::handle(counter);
  if (auto right = check_same_database(*impl_->store, handle); !right) return fail(std::move(right.error()));
  if (auto right = combine::check_batch(batch); !right) return fail(std::move(right.error()));
  if (auto right = check_deadline(deadline); !right) return fail(std::move(right.error()));
  return combine::apply_batch(handle, batch, deadline);
}

Result<std::vector<Stream>> Combiner::streams(std::string_view prefix) const {
  const Deadline deadline = deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max));
  using Rows = Result<std::vector<engine::StreamRow>>;
  auto rows = counter::read_when_back(impl_->store->pool(), deadline, [prefix](engine::Connection& connection) -> Rows {
    auto version = connection.schema_version();
    if (!version) return fail(std::move(version.error()));
    if (*version == 0) return std::vector<engine::StreamRow>();
    return connection.streams(prefix);
  });
  if (!rows) return fail(std::move(rows.error()));
  std::vector<Stream> streams;
  for (engine::StreamRow& row : *rows)
    streams.push_back({std::move(row.name), row.position, std::move(row.checkpoint)});
  return streams;
}

Result<void> Combiner::forget(std::span<const std::string> streams, Deadline deadline) {
  if (auto right = check_deadline(deadline); !right) return right;
  const counter::TransactionOptions options{.deadline = deadline, .send_again = true};
  return counter::run_transaction(impl_->store->pool(), options, [streams](counter::Attempt& attempt) -> Result<void> {
    for (const std::string& stream : streams) {
      if (auto gone = attempt.connection.forget(stream); !gone) return gone;
    }
    return {};
  });
}

Combiner::Counts Combiner::counts() const { return impl_->queue.counts(); }

}  // namespace splitcount
