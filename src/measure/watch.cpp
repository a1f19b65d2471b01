#include <measure/watch.h>

#include <algorithm>

namespace splitcount::measure {
namespace {

constexpr std::size_t texts_max = 1'000;  // of statements and transactions that are remembered of a table

}  // namespace

void Watch::look(const std::vector<RowWait>& waits) {
  ++looks_;
  struct Seen {
    int waiters = 0;
    std::set<std::string> transactions;
    std::set<std::pair<std::int64_t, std::int64_t>> rows;  // at the front of their queues
  };
  std::map<std::int64_t, Seen> now;
  for (const auto& wait : waits) {
    auto& table = tables_[wait.table];
    auto& seen = now[wait.table];
    ++seen.waiters;
    if (wait.row) ++table.pages[wait.row->first];
    if (!wait.transaction.empty()) {
      seen.transactions.insert(wait.transaction);
      if (wait.row) seen.rows.insert(*wait.row);
      if (table.transactions.size() < texts_max) table.transactions.insert(wait.transaction);
    }
    if (!wait.statement.empty() && (table.statements.size() < texts_max || table.statements.contains(wait.statement))) {
      ++table.statements[wait.statement];
    }
  }
  for (const auto& [id, seen] : now) {
    auto& table = tables_[id];
    ++table.looks;
    table.waiters += seen.waiters;
    table.waiters_most = std::max(table.waiters_most, seen.waiters);
    if (seen.transactions.size() <= 1 && seen.rows.size() <= 1) ++table.looks_at_one_row;
  }
}

bool is_one_hot_row(const TableWaits& waits, int looks) {
  constexpr int looks_min = 3;
  constexpr double one_queue_min = 0.8;   // of the looks at which somebody waited
  constexpr double queue_min = 1.5;       // sessions in it, in the mean
  constexpr double share_min = 0.05;      // of all looks
  constexpr double share_min_alone = 0.2; // where a queue of one is all that was seen
  constexpr double page_min = 0.8;
  if (waits.looks < looks_min || waits.transactions.size() < 2) return false;
  if (waits.looks_at_one_row < one_queue_min * waits.looks) return false;
  if (waits.mean() >= queue_min) return waits.looks >= share_min * looks;
  int known = 0;
  int on_page = 0;
  for (const auto& page : waits.pages) {
    known += page.second;
    on_page = std::max(on_page, page.second);
  }
  return waits.looks >= share_min_alone * looks && known > 0 && on_page >= page_min * known;
}

bool is_one_long_transaction(const TableWaits& waits) { return waits.looks >= 3 && waits.transactions.size() == 1; }

std::string most_frequent(const std::map<std::string, int>& counts) {
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : most->first;
}

}  // namespace splitcount::measure
