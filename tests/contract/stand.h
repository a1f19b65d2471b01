// What the contract suite needs of an engine. A new engine is one more file that implements Stand and Session, and one
// more line in stands.cpp; the suite itself names no engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/splitcount.h>

namespace splitcount::contract {

/// What a database told a program that speaks plain SQL.
struct SqlError {
  std::string message;
  bool begin_again = false;  ///< the transaction has lost against another one, and may win when it is run again
};
template <class T>
using SqlResult = tl::expected<T, SqlError>;
using Rows = std::vector<std::vector<std::string>>;  ///< values as text, NULL as "NULL"

/// A connection of a program that knows SQL and nothing of this library. It waits for locks as the engine's users
/// commonly do (ten seconds). One thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  virtual SqlResult<void> run(std::string_view sql) = 0;  ///< one statement or several
  virtual SqlResult<Rows> rows(std::string_view sql) = 0;

  virtual SqlResult<void> begin() = 0;
  virtual SqlResult<void> commit() = 0;
  virtual SqlResult<void> rollback() = 0;
  [[nodiscard]] virtual bool in_transaction() const = 0;
  /// Begins a transaction that lets no other session write the counter until it ends.
  virtual SqlResult<void> block_writers(std::string_view counter) = 0;

  /// The handle as the library borrows it.
  [[nodiscard]] virtual Caller caller() const = 0;
  /// One add by the counter's SQL object, with its values bound. The key is given wherever the rule has one.
  virtual SqlResult<void> add(std::string_view counter, const Rule& rule, const Add& add) = 0;
  /// One add that gives nothing but the key.
  virtual SqlResult<void> add_by_default(std::string_view counter, const Rule& rule, std::string_view key) = 0;
  /// One add whose amount is written as SQL text, to try what is no whole number.
  virtual SqlResult<void> add_written(std::string_view counter, const Rule& rule, std::string_view key,
                                      std::string_view amount) = 0;
};

/// Where engines may differ without breaking a promise.
struct Traits {
  std::string dialect;      ///< for Database::script
  std::string engine;       ///< Status::engine
  bool one_writer = false;  ///< a write transaction excludes every other; spread means slot 0
  int slots_default = 16;
  bool padded = false;
  bool journal = false;
  bool rolled_up = false;
  bool readers_may_block_writers = false;  ///< an open read can keep a writer waiting
  bool refusal_kills_transaction = false;  ///< an error inside a transaction leaves it dead
  bool sql_checks_utf8 = false;            ///< plain SQL cannot bring in text that is no UTF-8, or holds a zero byte
  bool judges_sums = false;                ///< adds of one call that meet in a slot are refused by their sum only
  bool callers_begin_again = false;        ///< their level tells them so where another session was faster
  bool temporary_tables_hide_ours = false; ///< a caller's temporary table of one of our names stands before ours
  bool sql_trims_numbers = false;          ///< plain SQL reads ' 5' as 5 before any function of ours sees it
};

/// One fresh database, gone when the stand is.
class Stand {
 public:
  virtual ~Stand() = default;
  [[nodiscard]] virtual const Traits& traits() const = 0;
  [[nodiscard]] virtual std::string dsn() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Session> session() = 0;
  /// Makes the database look as if the next version of splitcount had written it.
  virtual SqlResult<void> pretend_newer_schema() = 0;
  /// The database's own check of itself; empty where it is sound.
  [[nodiscard]] virtual std::string damage() = 0;
  /// Every table, view, index, trigger and function in it, by name.
  [[nodiscard]] virtual std::vector<std::string> objects() = 0;
};

/// Who makes the counters of a test.
enum class Edition {
  defined,  ///< Database::define
  by_hand,  ///< a person who runs what Database::script printed
};

struct EngineUnderTest {
  std::string name;  ///< a word for test names
  Edition edition = Edition::defined;
  std::function<std::unique_ptr<Stand>()> make;
  std::optional<Layout> layout{};  ///< of every counter whose test does not say one
};
inline void PrintTo(const EngineUnderTest& engine, std::ostream* out) { *out << engine.name; }

[[nodiscard]] const std::vector<EngineUnderTest>& engines_under_test();

/// Makes a counter in the way of the edition.
[[nodiscard]] Result<Counter> make_counter(Edition edition, Stand& stand, Database& database, std::string_view name,
                                           const RuleOptions& options, const std::vector<std::string>& keys = {});

/// A database in a new directory of `parent`; empty: where files are fastest, since most tests ask nothing of a disk.
[[nodiscard]] std::unique_ptr<Stand> make_sqlite_stand(const std::string& parent = {});
[[nodiscard]] std::unique_ptr<Stand> make_postgresql_stand();
[[nodiscard]] std::unique_ptr<Stand> make_mariadb_stand();
/// Its plain SQL is spoken by clients that ask for found rows instead of changed ones, as many drivers do.
[[nodiscard]] std::unique_ptr<Stand> make_mariadb_stand_of_found_rows();

}  // namespace splitcount::contract
