// Work that is due now and then. It runs in procedures of the counter, so that whoever runs it needs no more than to
// execute them.
#include <fmt/format.h>

#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>

namespace splitcount::engine::mariadb {

Result<Folded> MariadbConnection::fold_deltas(const StoredCounter& /*counter*/, std::optional<std::int64_t> /*pages*/) {
  return Folded{};
}

Result<std::int64_t> MariadbConnection::purge_ids(const StoredCounter& counter) {
  auto answer = run(counter_sql("purge_ids", counter.name, counter.rule));
  if (!answer) return fail(explained(std::move(answer.error()), counter));
  return answer->number(0, 0);
}

}  // namespace splitcount::engine::mariadb
