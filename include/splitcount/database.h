// Database and Counter: where counters live, and what can be done with one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/add.h>
#include <splitcount/error.h>
#include <splitcount/export.h>
#include <splitcount/rule.h>

struct sqlite3;  // native handles are borrowed, never owned
struct pg_conn;  // PGconn
struct st_mysql;  // MYSQL

namespace splitcount {

namespace counter {
struct Access;
}

/// Your own open transaction. It is never begun, committed, rolled back, retried, closed or given a
/// savepoint by us. The handle must come from the same client library that splitcount is linked with.
class SPLITCOUNT_EXPORT Caller {
 public:
  explicit Caller(sqlite3* handle) noexcept : handle_(handle), engine_(Engine::sqlite) {}
  /// A PGconn*. Its client_encoding is UTF8.
  explicit Caller(pg_conn* handle) noexcept : handle_(handle), engine_(Engine::postgresql) {}
  /// A MYSQL* of libmariadb, with all results read. Its current database is the counter's.
  explicit Caller(st_mysql* handle) noexcept : handle_(handle), engine_(Engine::mariadb) {}

 private:
  friend struct counter::Access;
  enum class Engine : std::uint8_t { sqlite, postgresql, mariadb };
  void* handle_;
  Engine engine_;
};

/// One counter of a Database. Cheap to copy, safe to use from many threads at once.
class SPLITCOUNT_EXPORT Counter {
 public:
  [[nodiscard]] const std::string& name() const noexcept;
  /// The rule as last read. A change made by others is noticed by the next add, which follows it.
  [[nodiscard]] Rule rule() const;

  /// One add in a short transaction of its own; committed when it returns. Retried whole within the
  /// timeout where the database asks for it. On an error nothing was counted, unless it says outcome_unknown.
  [[nodiscard]] Result<Added> add(const Add& add);
  /// Many adds in one transaction of its own, all or nothing. At most limits::call_items_max.
  [[nodiscard]] Result<std::vector<Added>> add(std::span<const Add> adds);
  /// One add within your transaction: it commits or rolls back with it. On an error nothing was counted;
  /// where Error::transaction_dead is set you must roll back.
  [[nodiscard]] Result<Added> add(Caller caller, const Add& add);
  /// Many adds within your transaction, all or nothing.
  [[nodiscard]] Result<std::vector<Added>> add(Caller caller, std::span<const Add> adds);

  /// The total of one key; without a key the counter's total, or the sum over all keys. A key that was never
  /// counted is 0 where missing rows are created, and key_missing where they are an error.
  [[nodiscard]] Result<Total> total(std::string_view key = {}) const;
  /// The totals of several keys from one snapshot, in the order given.
  [[nodiscard]] Result<std::vector<Total>> totals(std::span<const std::string> keys) const;
  /// The n largest totals, largest first, equal ones by key bytes. n: 1..limits::top_max.
  [[nodiscard]] Result<std::vector<Total>> top(int n) const;
  /// The slots of one key in order; the key is empty for a counter without one.
  [[nodiscard]] Result<std::vector<Slot>> slots(std::string_view key = {}) const;
  /// How many distinct keys have a row.
  [[nodiscard]] Result<std::int64_t> keys() const;

 private:
  friend struct counter::Access;
  class Impl;
  explicit Counter(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

/// What `define` found or did.
struct Defined {
  bool created = false;         ///< false: it existed with the same rule and was left as it was
  std::int64_t keys_added = 0;  ///< keys that had no rows before
  std::int64_t slots_restored = 0;  ///< slots of a counter without a key that had gone; they begin at 0
  std::vector<std::string> advice{};  ///< sentences about a rule that was just created and could serve better
};

/// A counter as `list` shows it.
struct CounterInfo {
  std::string name;
  std::int64_t version = 0;  ///< goes up whenever a rule in this database is written
  Rule rule;
  Instant created_at{};
  std::optional<std::string> moved_to{};  ///< where a closed counter goes on; unset: adds are welcome here
};

/// What the database promises, as `status` shows it.
struct Status {
  std::string engine;              ///< "sqlite", "postgresql"
  std::string engine_version;      ///< "3.40.1"
  std::string durability;          ///< the durability class in words
  std::vector<std::string> warnings;  ///< where the database is set weaker
  std::vector<std::string> closed{};   ///< counters that have moved elsewhere, a sentence for each
  std::vector<std::string> overdue{};  ///< work that `maintain` should have done by now, a sentence for each counter
  std::int64_t schema_version = 0;    ///< 0: not installed
  std::int64_t counters = 0;
  std::int64_t size_bytes = 0;
};

/// What `maintain` did for one counter.
struct Maintained {
  std::string counter;
  std::int64_t deltas_folded = 0;  ///< moved from a journal into slots
  std::int64_t ids_purged = 0;     ///< expired request ids that were removed
  std::optional<Error> error{};    ///< why it stopped; what was done before stays done
};

/// A database that holds counters. Opening is lazy: nothing is touched before the first operation. Only
/// `define` creates a database file. Counters and combiners keep the pool of connections alive.
class SPLITCOUNT_EXPORT Database {
 public:
  /// `sqlite:PATH`, or a PATH without a scheme; `postgresql://...`, `postgresql:host=... dbname=...`,
  /// `postgresql:service=NAME`. The error is config_invalid for a DSN that names no engine.
  [[nodiscard]] static Result<Database> open(std::string_view dsn);

  /// Creates the counter, or finds it unchanged; another rule is the error rule_differs, which shows the
  /// difference and changes nothing. `keys` get all their slots (for missing = error; elsewhere a head start).
  /// Slots of a counter without a key that have gone are created again; where an object has gone the error is
  /// database_corrupt, which names it.
  [[nodiscard]] Result<Counter> define(std::string_view name, const RuleOptions& options,
                                       std::span<const std::string> keys = {}, Defined* what = nullptr);
  /// An existing counter; unknown_counter names the nearest one.
  [[nodiscard]] Result<Counter> counter(std::string_view name) const;
  [[nodiscard]] Result<std::vector<CounterInfo>> list() const;
  /// Removes one counter with all that belongs to it.
  [[nodiscard]] Result<void> drop(std::string_view name);
  /// Removes every counter and every object of ours.
  [[nodiscard]] Result<void> uninstall();
  [[nodiscard]] Result<Status> status() const;

  /// Closes a counter that goes on elsewhere: every later add is refused at every door with counter_closed, whose
  /// message names `place` (say "the PostgreSQL database shop"; 1 to 500 bytes). Adds in flight are waited for, and what
  /// was counted can be read as before. One that is closed stays as it is. Error: database_busy, where a transaction that
  /// has counted in it stays open.
  [[nodiscard]] Result<void> close(std::string_view name, std::string_view place);
  /// Takes adds again. True: it was closed.
  [[nodiscard]] Result<bool> reopen(std::string_view name);

  /// Does what is due now and then, in transactions of a bounded size: moves what journals have pending into slots, and
  /// removes expired request ids. `name`: of one counter; empty: all. Adds go on meanwhile, and several may maintain at
  /// once. `tell`, where it is given, is called after each transaction with what is done so far for its counter. An
  /// error of one counter stands in its Maintained, and the others are done all the same.
  [[nodiscard]] Result<std::vector<Maintained>> maintain(std::string_view name = {},
                                                         const std::function<void(const Maintained&)>& tell = {});

  /// The script that defines a counter by hand, without a database. `dialect`: "sqlite", "postgresql".
  [[nodiscard]] static Result<std::string> script(std::string_view dialect, std::string_view name,
                                                  const RuleOptions& options, std::span<const std::string> keys = {});

 private:
  friend struct counter::Access;
  class Impl;
  explicit Database(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

}  // namespace splitcount
