// Work that is due now and then. It runs in procedures of the counter, so that whoever runs it needs no more than to
// execute them.
#include <array>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/rule_row.h>

namespace splitcount::engine::mariadb {

Result<Folded> MariadbConnection::fold_deltas(const StoredCounter& counter, std::optional<std::int64_t> pages) {
  Values upto;
  pages ? upto.number(*pages) : upto.null();
  auto answer = run(counter_sql("fold", counter.name, counter.rule), upto);
  if (!answer) {
    Error error = explained(std::move(answer.error()), counter);
    if (error.code == ErrorCode::database_busy) {
      error.message = fmt::format("another session is folding counter {}", quoted(counter.name));
    }
    return fail(std::move(error));
  }
  return Folded{answer->number(0, 0), answer->number(0, 1)};
}

Result<std::int64_t> MariadbConnection::purge_ids(const StoredCounter& counter) {
  auto answer = run(counter_sql("purge_ids", counter.name, counter.rule));
  if (!answer) return fail(explained(std::move(answer.error()), counter));
  return answer->number(0, 0);
}

Result<void> MariadbConnection::look_for_overdue(Status& status) {
  auto counters = list();
  if (!counters) return fail(std::move(counters.error()));
  for (const auto& counter : *counters) {
    if (counter.rule.layout != Layout::journal) continue;
    const std::array<Placeholder, 2> limit{
        Placeholder{"deltas_overdue", fmt::format("{}", limits::journal_deltas_overdue)},
        Placeholder{"deltas_overdue_and_one", fmt::format("{}", limits::journal_deltas_overdue + 1)}};
    const auto overdue = run(fill(counter_sql("is_overdue", counter.name, counter.rule), limit));
    if (!overdue && overdue.error().code == ErrorCode::unknown_counter) continue;  // it has gone, which check_objects tells
    if (!overdue && overdue.error().code == ErrorCode::permission_denied) {
      status.warnings.push_back(fmt::format(
          "this user may not read {0}_deltas, so nobody can tell here whether `splitcount maintain {0}` is overdue", counter.name));
      continue;
    }
    if (!overdue) return fail(overdue.error());
    if (overdue->truth(0, 0)) status.overdue.push_back(overdue_sentence(counter.name));
  }
  return {};
}

}  // namespace splitcount::engine::mariadb
