// Database::maintain: bounded pieces of work, each in a transaction of its own.
#include <splitcount/database.h>

#include <utility>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/access.h>
#include <counter/transaction.h>

namespace splitcount {

using counter::Attempt;
using counter::Store;

namespace {

using Tell = std::function<void(const Maintained&)>;
using Piece = std::function<Result<void>(engine::Connection&)>;

/// Done twice, a piece does nothing more, so it is sent again where nobody knows whether it was committed.
Result<void> run_piece(Store& store, const Piece& piece) {
  const counter::TransactionOptions how{
      .deadline = deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max)), .send_again = true};
  return counter::run_transaction(store.pool(), how, [&](Attempt& attempt) { return piece(attempt.connection); });
}

/// What is pending now; what comes meanwhile can lie on further pages, and is for the next time.
Result<void> fold_deltas(Store& store, const engine::StoredCounter& counter, Maintained& done, const Tell& tell) {
  std::optional<std::int64_t> pages;
  do {
    engine::Folded folded;
    auto ran = run_piece(store, [&](engine::Connection& connection) -> Result<void> {
      auto step = connection.fold_deltas(counter, pages);
      if (!step) return fail(std::move(step.error()));
      folded = *step;
      return {};
    });
    if (!ran) return ran;
    done.deltas_folded += folded.deltas;
    pages = folded.pages_left;
    if (tell) tell(done);
  } while (*pages > 0);
  return {};
}

Result<void> purge_ids(Store& store, const engine::StoredCounter& counter, Maintained& done, const Tell& tell) {
  std::int64_t purged = 0;
  do {
    auto ran = run_piece(store, [&](engine::Connection& connection) -> Result<void> {
      auto removed = connection.purge_ids(counter);
      if (!removed) return fail(std::move(removed.error()));
      purged = *removed;
      return {};
    });
    if (!ran) return ran;
    done.ids_purged += purged;
    if (tell) tell(done);
  } while (purged == limits::purged_ids_max);
  return {};
}

Maintained maintain_one(Store& store, const engine::StoredCounter& counter, const Tell& tell) {
  Maintained done;
  done.counter = counter.name;
  if (counter.moved_to) return done;  // nothing may be written there
  Result<void> ran;
  if (counter.rule.layout == Layout::journal) ran = fold_deltas(store, counter, done, tell);
  if (ran && counter.rule.retries.window) ran = purge_ids(store, counter, done, tell);
  if (!ran) done.error = counter::explained(store, counter.name, std::move(ran.error()));
  return done;
}

/// The counter of that name, or all of them.
Result<std::vector<engine::StoredCounter>> chosen(Store& store, std::string_view name) {
  const Deadline deadline = deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max));
  using Counters = Result<std::vector<engine::StoredCounter>>;
  return counter::read_when_back(store.pool(), deadline, [name](engine::Connection& connection) -> Counters {
    if (!name.empty()) {
      auto stored = counter::look_up(connection, name);
      if (!stored) return fail(std::move(stored.error()));
      return std::vector<engine::StoredCounter>{**stored};
    }
    auto version = connection.schema_version();
    if (!version) return fail(std::move(version.error()));
    if (*version == 0) return std::vector<engine::StoredCounter>();
    return connection.list();
  });
}

}  // namespace

Result<std::vector<Maintained>> Database::maintain(std::string_view name, const Tell& tell) {
  Store& store = *impl_->store;
  auto counters = chosen(store, name);
  if (!counters) return fail(std::move(counters.error()));
  std::vector<Maintained> all;
  for (const engine::StoredCounter& counter : *counters) {
    Maintained done = maintain_one(store, counter, tell);
    // One that was dropped meanwhile needs nothing.
    const bool gone = name.empty() && done.error && done.error->code == ErrorCode::unknown_counter;
    if (!gone) all.push_back(std::move(done));
  }
  return all;
}

}  // namespace splitcount
