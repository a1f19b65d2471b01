// Work that is due now and then. There are no journals here.
#include <base/limits.h>
#include <engine/sqlite/connection.h>

namespace splitcount::engine::sqlite {

Result<Folded> SqliteConnection::fold_deltas(const StoredCounter& /*counter*/, std::optional<std::int64_t> /*pages*/) {
  return Folded{};
}

Result<std::int64_t> SqliteConnection::purge_ids(const StoredCounter& counter) {
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return fail(std::move(current.error()));
  if (!counter.rule.retries.window) return 0;
  auto statement = statements_.of(counter, "requests_purge");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  query.bind(1, std::chrono::milliseconds(*counter.rule.retries.window).count()).bind(2, limits::purged_ids_max);
  if (auto done = query.run(); !done) return fail(explained(noted(std::move(done.error())), &counter));
  return sqlite3_changes64(database_);
}

}  // namespace splitcount::engine::sqlite
