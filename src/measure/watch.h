// What was seen of sessions that wait for rows, look by look, and whether one row explains it. Pure: no database.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace splitcount::measure {

/// One session that waits for a row at one look.
struct RowWait {
  std::int64_t table = 0;
  std::optional<std::pair<std::int64_t, std::int64_t>> row{};  ///< page and place; unset: not known
  std::string transaction{};   ///< whose end it waits for; empty: it stands behind another one
  std::string statement{};     ///< empty: not to be seen
};

struct TableWaits {
  int looks = 0;               ///< at which somebody waited
  int looks_at_one_row = 0;    ///< of these, where all waited for one transaction, and for one row of it as far as that is known
  int waiters = 0;             ///< over all looks
  int waiters_most = 0;        ///< at one look
  std::set<std::string> transactions{};  ///< that were waited for
  std::map<std::int64_t, int> pages{};   ///< of the rows that are known, with their waits
  std::map<std::string, int> statements{};

  [[nodiscard]] double mean() const { return looks == 0 ? 0 : static_cast<double>(waiters) / looks; }
};

class Watch {
 public:
  void look(const std::vector<RowWait>& waits);
  [[nodiscard]] int looks() const noexcept { return looks_; }
  [[nodiscard]] const std::map<std::int64_t, TableWaits>& tables() const noexcept { return tables_; }

 private:
  int looks_ = 0;
  std::map<std::int64_t, TableWaits> tables_;
};

/// Sessions waited for one transaction at a time, and these transactions followed each other. Where there was never more than one,
/// they must have waited often and on one page: many rows of a table are waited for now and then, too.
[[nodiscard]] bool is_one_hot_row(const TableWaits& waits, int looks);

/// One transaction alone was waited for: it is a long one, and its row need not be hot.
[[nodiscard]] bool is_one_long_transaction(const TableWaits& waits);

/// The most frequent one; empty where there is none.
[[nodiscard]] std::string most_frequent(const std::map<std::string, int>& counts);

}  // namespace splitcount::measure
