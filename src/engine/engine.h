// The engine interface: what src/counter and src/combine ask of a database. One implementation a folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/add.h>
#include <splitcount/database.h>
#include <splitcount/error.h>
#include <splitcount/rule.h>
#include <rule/rule.h>

namespace splitcount::engine {

/// A counter as the database has it.
struct StoredCounter {
  std::string name;
  std::int64_t version = 0;  ///< of the rule; never used twice in one database, also not after a drop
  Rule rule;
  Instant created_at{};
  std::string schema{};  ///< that its objects are in, quoted; empty on engines without schemas
  std::optional<std::string> moved_to{};  ///< where it goes on; set: it is closed, and every add is refused
};

/// An add that has passed rule::check_add and rule::pick_slot. Views are borrowed for the length of the call.
struct ReadyAdd {
  std::string_view key;
  std::int64_t amount = 1;
  std::string_view request_id;
  std::optional<int> slot;  ///< unset: the engine picks by the rule (engines with many writers only)
  std::optional<std::int64_t> value{};
};

/// What one refused add means for the others of its call.
enum class Refusal : std::uint8_t {
  all,   ///< nothing of the call is written; the first refused add's error is the result
  each,  ///< the refused add has its own error, the others are written
};

/// What one step of a fold did.
struct Folded {
  std::int64_t deltas = 0;      ///< moved into their slots
  std::int64_t pages_left = 0;  ///< of deltas that were not looked at; 0: all were
};

struct StreamRow {
  std::string name;
  std::int64_t position = 0;
  std::string checkpoint;
};

/// A known request id, with the add that it stands for.
struct RequestRow {
  std::string request_id;
  std::string key;  ///< empty for a counter without a key
  std::int64_t amount = 0;
  Instant counted{};  ///< when
};

/// One conversation with a database, for one thread at a time. Every operation between begin and commit is part of
/// that transaction; outside of one each read is a statement of its own. After an error inside a transaction the
/// caller rolls back, unless the operation says otherwise.
class Connection {
 public:
  virtual ~Connection() = default;

  // --- Transactions (not on a borrowed connection, whose transaction is the caller's)
  /// Begins a transaction that writes; on engines with one writer it holds the write lock when it returns.
  /// Waits for locks until the deadline, here and in what follows. Error: database_busy, retryable.
  virtual Result<void> begin(Deadline deadline) = 0;
  /// On an error the transaction is over; where it may have been committed all the same, outcome_unknown is set.
  virtual Result<void> commit() = 0;
  virtual void rollback() noexcept = 0;
  /// False: this connection should be closed and not go back to the pool. Outside a transaction it also tells of a
  /// connection that broke meanwhile, as far as that can be seen without asking the database.
  [[nodiscard]] virtual bool healthy() const noexcept = 0;
  /// How long reads outside a transaction may wait for locks.
  virtual void set_wait(Deadline deadline) noexcept = 0;

  // --- Schema
  /// 0: not installed.
  virtual Result<int> schema_version() = 0;
  /// Creates or upgrades the objects that all counters share, inside a transaction. Error: schema_too_new.
  virtual Result<void> install() = 0;
  /// Removes them, inside a transaction, when no counter is left.
  virtual Result<void> uninstall() = 0;

  // --- Rules
  virtual Result<std::optional<StoredCounter>> find(std::string_view name) = 0;
  virtual Result<std::vector<StoredCounter>> list() = 0;
  /// Creates the counter's objects, its rule row, and the slots of a counter without a key whose missing is error.
  /// Inside a transaction. Error: name_clash, which names what is in the way.
  virtual Result<void> create(std::string_view name, const Rule& rule) = 0;
  /// Gives each key all of its slots; the number of keys that had no row before. Inside a transaction.
  virtual Result<std::int64_t> create_keys(const StoredCounter& counter, std::span<const std::string> keys) = 0;
  /// Whether every object of the counter is there, as far as names tell. Error: database_corrupt, naming what is not.
  virtual Result<void> check_objects(const StoredCounter& counter) = 0;
  /// The same, and then creates slots that create made and that have gone; how many. Inside a transaction.
  virtual Result<std::int64_t> mend(const StoredCounter& counter) = 0;
  /// Removes the counter's objects, rule row and streams. Inside a transaction.
  virtual Result<void> drop(const StoredCounter& counter) = 0;

  // --- Adds
  /// Writes adds inside a transaction: ids first, then slots, both in byte order. Before anything is written it checks
  /// that the stored rule still has counter.version; error rule_changed (nothing written, the transaction lives).
  /// With Refusal::each the result has one entry an add; with Refusal::all an Error means that nothing of the call was
  /// written and the transaction lives, unless transaction_dead is set.
  virtual Result<std::vector<Result<Added>>> apply(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                                   Refusal refusal) = 0;

  // --- Work that is due now and then: a bounded piece of it, inside a transaction of its own at READ COMMITTED
  /// Moves deltas of a counter with layout journal into their slots. `pages`: goes on from Folded::pages_left of the
  /// step before. Error: database_busy, where another session folds this counter.
  virtual Result<Folded> fold_deltas(const StoredCounter& counter, std::optional<std::int64_t> pages) = 0;
  /// Removes ids that a counter with a window need not know any more, at most limits::purged_ids_max; how many.
  virtual Result<std::int64_t> purge_ids(const StoredCounter& counter) = 0;

  // --- Streams
  /// Moves a stream from one position to another, inside a transaction; from 0 creates it. True: moved. False: it
  /// stood at `to` with this checkpoint already (an earlier try was committed). Error: stream_conflict.
  virtual Result<bool> advance(std::string_view stream, std::int64_t from, std::int64_t to,
                               std::string_view checkpoint) = 0;
  virtual Result<std::vector<StreamRow>> streams(std::string_view prefix) = 0;
  virtual Result<void> forget(std::string_view stream) = 0;

  // --- Moving a counter to another database
  /// What is the same for two connections to one database, however it was spelled, and differs for any other.
  virtual Result<std::string> identity() = 0;
  /// Closes the counter, or opens it again where `place` is unset, inside a transaction. It waits for adds in flight;
  /// every later one is refused at every door with counter_closed, until it is opened. The rule gets a new version.
  virtual Result<void> set_moved_to(const StoredCounter& counter, std::optional<std::string_view> place) = 0;
  /// The totals of the keys behind `after` (empty: from the first on) in byte order, at most `count`; a counter by key.
  virtual Result<std::vector<Total>> totals_after(const StoredCounter& counter, std::string_view after, int count) = 0;
  /// The ids behind `after` in byte order that are still within their window, at most `count`.
  virtual Result<std::vector<RequestRow>> requests_after(const StoredCounter& counter, std::string_view after,
                                                         int count) = 0;
  /// Makes ids known that counted elsewhere, inside a transaction; one that is known here from a later time stays as it
  /// is. How many were not known so before.
  virtual Result<std::int64_t> put_requests(const StoredCounter& counter, std::span<const RequestRow> requests) = 0;
  /// What put_copied noted for each key; unset where nothing was. The key is empty for a counter without one.
  virtual Result<std::vector<std::optional<std::int64_t>>> copied(const StoredCounter& counter,
                                                                  std::span<const std::string> keys) = 0;
  /// Notes for distinct keys which total of another database this counter holds, inside a transaction.
  virtual Result<void> put_copied(const StoredCounter& counter, std::span<const std::string> keys,
                                  std::span<const std::int64_t> totals) = 0;
  /// Removes at most `count` of these notes, inside a transaction; how many.
  virtual Result<std::int64_t> forget_copied(const StoredCounter& counter, std::int64_t count) = 0;

  // --- Reads: one statement, one snapshot each
  /// One key, or without a key the sum over all rows; nothing where there is no row.
  virtual Result<std::optional<Total>> total(const StoredCounter& counter, std::optional<std::string_view> key) = 0;
  /// In the order of `keys`, which are distinct; a key without rows has Total::slots == 0.
  virtual Result<std::vector<Total>> totals(const StoredCounter& counter, std::span<const std::string> keys) = 0;
  virtual Result<std::vector<Total>> top(const StoredCounter& counter, int n) = 0;
  virtual Result<std::vector<Slot>> slots(const StoredCounter& counter, std::string_view key) = 0;
  virtual Result<std::int64_t> keys(const StoredCounter& counter) = 0;
  /// All of Status but `counters`.
  virtual Result<Status> status() = 0;
};

/// A row as a database answers it, in its own text form; unset: NULL.
using Row = std::vector<std::optional<std::string>>;

/// A conversation in plain SQL, for what looks at a database instead of counting in it (src/measure). For one thread at
/// a time, and with the database's own transactions: what is not begun commits by itself.
class Console {
 public:
  virtual ~Console() = default;
  /// One statement with values for its parameters, or several without; the rows of the last one.
  virtual Result<std::vector<Row>> ask(const std::string& sql, std::span<const std::string> values = {}) = 0;
  /// Makes a statement ready to be run many times (on an engine in this process also several); its number here.
  /// `parameters`: how many whole numbers it takes, whether it uses them or not.
  virtual Result<std::size_t> prepare(const std::string& sql, std::size_t parameters) = 0;
  /// Runs it; rows are read and thrown away. After an error no transaction is open.
  /// True: it met another session's lock and waited, where the client can see that.
  virtual Result<bool> run(std::size_t prepared, std::span<const std::int64_t> numbers) = 0;
  /// For what follows; without one it waits for ever.
  virtual void set_deadline(Deadline deadline) noexcept = 0;
};

class Engine;

/// A place for the tables of a trial beside everything else in the database (a schema, a file): one at a time in a
/// database. What a killed run left behind is removed when the next one begins.
class Sandbox {
 public:
  virtual ~Sandbox() = default;
  /// Its connections and consoles work in the place, and their counters are its own.
  [[nodiscard]] virtual Engine& engine() noexcept = 0;
  /// Where the tables are, for a sentence.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Removes the place with all that is in it, when every connection to it is closed.
  virtual Result<void> remove() = 0;
};

/// A database by its DSN.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual const rule::EngineTraits& traits() const noexcept = 0;
  /// As in sql/<dialect>, for `statement`.
  [[nodiscard]] virtual std::string_view dialect() const noexcept = 0;
  /// `create`: the database file may be created. Errors: database_unavailable, not_a_database, ...
  virtual Result<std::unique_ptr<Connection>> connect(bool create, Deadline deadline) = 0;
  /// Errors as those of connect.
  virtual Result<std::unique_ptr<Console>> console(Deadline deadline) = 0;
  /// Errors: database_busy, where another trial is running; permission_denied; name_clash, where its place is taken by
  /// something that is not ours.
  virtual Result<std::unique_ptr<Sandbox>> sandbox(Deadline deadline) = 0;
  /// The name of the database for a sentence, without secrets.
  [[nodiscard]] virtual std::string display_name() const = 0;
  /// The same for somebody who may stand in another folder.
  [[nodiscard]] virtual std::string place() const { return display_name(); }
};

/// `sqlite:PATH` or a PATH without a scheme; `postgresql://...` or `postgresql:keyword=value ...`;
/// `mariadb://...`. Error: config_invalid.
[[nodiscard]] Result<std::shared_ptr<Engine>> open(std::string_view dsn);

/// The caller's own handle. Its transaction is checked, never touched. Error: no_transaction.
[[nodiscard]] Result<std::unique_ptr<Connection>> borrow(sqlite3* handle);
[[nodiscard]] Result<std::unique_ptr<Connection>> borrow(pg_conn* handle);
[[nodiscard]] Result<std::unique_ptr<Connection>> borrow(st_mysql* handle);

/// The traits of a dialect by its name ("sqlite", "postgresql", "mariadb"); null where unknown.
[[nodiscard]] const rule::EngineTraits* traits_of(std::string_view dialect) noexcept;

/// The script that defines a counter by hand. The rule is complete and checked.
[[nodiscard]] Result<std::string> script(std::string_view dialect, std::string_view name, const Rule& rule,
                                         std::span<const std::string> keys);

}  // namespace splitcount::engine
