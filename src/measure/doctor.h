// Looks for hot rows in a database that has never heard of us, by its own statistics and by watching who waits. Only reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <splitcount/error.h>

#include <measure/target.h>

namespace splitcount::measure {

/// What to do about a hot row that is counted in.
struct Remedy {
  std::string counter;      ///< a name for the counter
  std::string key_column;   ///< of the counter; empty: one number
  std::string add;          ///< SQL in place of the statement
  std::string read;         ///< SQL for the total
  std::string carry;        ///< SQL that takes the present count over
  std::vector<std::string> cautions{};  ///< why it may not do, a sentence each
};

/// A hot row, with the evidence.
struct Finding {
  std::string schema;
  std::string table;
  std::string column{};                 ///< that is counted up; empty: it could not be told
  std::string statement{};              ///< texts in it as '?'; empty: it could not be seen
  std::string found_in{};               ///< where the statement stands, "function f"; empty: a session sent it
  bool is_ours = false;                 ///< a counter's own table
  std::optional<std::int64_t> rows{};   ///< live ones; unset: many, or not known
  std::int64_t updates = 0;             ///< of the table, during the watch
  int looks_waited = 0;                 ///< looks at which sessions waited for one row
  int waiters_most = 0;                 ///< at one look
  double waiters_mean = 0;              ///< over the looks at which some waited
  std::optional<std::int64_t> calls{};  ///< of the statement during the watch, where the server keeps count
  double call_ms = 0;                   ///< mean, with what they waited
  std::optional<Remedy> remedy{};       ///< unset: nothing is counted, so slots do not help
};

/// How busy a table was during the watch.
struct TableSeen {
  std::string schema;
  std::string table;
  std::int64_t updates = 0;
  bool is_hot = false;                  ///< there is a finding on it
};

/// Sessions that were seen waiting for rows of a table with a statement.
struct StatementWaits {
  std::string schema;
  std::string table;
  std::string statement;                ///< texts in it as '?'; empty: it could not be seen
  std::int64_t waits = 0;               ///< over all looks, each session at each look
};

struct Diagnosis {
  double seconds = 0;                   ///< that it watched
  int looks = 0;
  std::vector<Finding> findings;        ///< the hottest first
  std::vector<TableSeen> tables;        ///< that were updated: the hot ones first, then those with most updates
  std::int64_t tables_more = 0;         ///< updated, too, and not among `tables`
  std::int64_t updates_more = 0;        ///< of these
  std::vector<StatementWaits> waits;    ///< the most first
  std::vector<std::string> noticed;     ///< sentences on what is no finding
  std::vector<std::string> unseen;      ///< what could not be seen
  bool stopped = false;
};

struct DoctorOptions {
  std::chrono::seconds watch{5};        ///< 1..limits::doctor_watch_s_max; an engine with one writer needs none
  const std::atomic<bool>* stop = nullptr;
};

/// `tell` gets the seconds watched so far. Errors: those of a connection.
[[nodiscard]] Result<Diagnosis> look_for_hot_rows(const Target& target, const DoctorOptions& options,
                                                  const std::function<void(double)>& tell = {});

}  // namespace splitcount::measure
