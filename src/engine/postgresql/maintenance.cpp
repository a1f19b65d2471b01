// Work that is due now and then. It runs in functions of the counter, so that whoever runs it needs no more than to
// execute them.
#include <array>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <engine/postgresql/connection.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/rule_row.h>

namespace splitcount::engine::postgresql {
namespace {

std::string text_of(std::string_view name, const StoredCounter& counter) {
  return counter_sql(name, counter.name, counter.rule, counter.schema);
}

Error explained(Error error, const StoredCounter& counter) {
  if (error.code == ErrorCode::database_busy) {
    error.message = fmt::format("another session is folding counter {}, or has a transaction open in which it did",
                                quoted(counter.name));
  } else if (error.code == ErrorCode::unknown_counter) {
    error.message = fmt::format("the counter {} is not in this database any more, or its objects have gone", quoted(counter.name));
  }
  return error;
}

}  // namespace

Result<Folded> PostgresqlConnection::fold_deltas(const StoredCounter& counter, std::optional<std::int64_t> pages) {
  auto answer = pages ? run_to_its_limit(text_of("fold", counter), Parameters().number(*pages))
                      : run_to_its_limit(text_of("fold_all", counter));
  if (!answer) return fail(explained(std::move(answer.error()), counter));
  return Folded{answer->number(0, 0), answer->number(0, 1)};
}

Result<std::int64_t> PostgresqlConnection::purge_ids(const StoredCounter& counter) {
  auto answer = run_to_its_limit(text_of("purge_ids", counter));
  if (!answer) return fail(explained(std::move(answer.error()), counter));
  return answer->number(0, 0);
}

Result<void> PostgresqlConnection::look_for_overdue(Status& status) {
  const auto journals = run_shared("journals");
  if (!journals) return fail(journals.error());
  for (int row = 0; row < journals->rows(); ++row) {
    const auto name = journals->text(row, 0);
    if (journals->is_null(row, 1)) continue;  // it has gone, which check_objects tells
    if (!journals->truth(row, 1)) {
      status.warnings.push_back(fmt::format(
          "this role may not read {0}_deltas, so nobody can tell here whether `splitcount maintain {0}` is overdue", name));
      continue;
    }
    const std::array<Placeholder, 1> limit{Placeholder{"deltas_overdue", fmt::format("{}", limits::journal_deltas_overdue)}};
    const auto overdue = run(fill(counter_sql("is_overdue", name, {}, schema_), limit));
    if (!overdue) return fail(overdue.error());
    if (!overdue->truth(0, 0)) continue;
    status.overdue.push_back(overdue_sentence(name));
  }
  return {};
}

}  // namespace splitcount::engine::postgresql
