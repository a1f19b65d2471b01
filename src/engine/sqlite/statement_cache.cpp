#include <engine/sqlite/statement_cache.h>

#include <algorithm>

#include <engine/sqlite/counter_sql.h>

namespace splitcount::engine::sqlite {

Result<sqlite3_stmt*> StatementCache::shared(std::string_view name) {
  if (const auto found = shared_.find(name); found != shared_.end()) return found->second.get();
  auto prepared = prepare(database_, shared_sql(name), true);
  if (!prepared) return fail(std::move(prepared.error()));
  return shared_.emplace(name, std::move(*prepared)).first->second.get();
}

Result<sqlite3_stmt*> StatementCache::of(const StoredCounter& counter, std::string_view name) {
  auto& statements = statements_of(counter).statements;
  if (const auto found = statements.find(name); found != statements.end()) return found->second.get();
  auto prepared = prepare(database_, CounterSql(counter.name, counter.rule).text(name), true);
  if (!prepared) return fail(std::move(prepared.error()));
  return statements.emplace(name, std::move(*prepared)).first->second.get();
}

StatementCache::OfCounter& StatementCache::statements_of(const StoredCounter& counter) {
  auto found = counters_.find(counter.name);
  if (found == counters_.end()) {
    if (counters_.size() >= counters_max) {
      counters_.erase(std::min_element(counters_.begin(), counters_.end(),
                                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
    }
    found = counters_.emplace(counter.name, OfCounter{}).first;
  }
  auto& of_counter = found->second;
  if (of_counter.version != counter.version || of_counter.created_at != counter.created_at) {
    of_counter.statements.clear();
    of_counter.version = counter.version;
    of_counter.created_at = counter.created_at;
  }
  of_counter.used = ++uses_;
  return of_counter;
}

}  // namespace splitcount::engine::sqlite
