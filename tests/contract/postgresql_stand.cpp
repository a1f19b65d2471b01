// PostgreSQL: a database of its own on the tests' server.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <libpq-fe.h>

#include <contract/postgresql_server.h>
#include <contract/stand.h>

namespace splitcount::contract {
namespace {

/// Of the callers' transactions, with _ for a space; null: READ COMMITTED.
const char* callers_isolation() { return std::getenv("SPLITCOUNT_POSTGRESQL_ISOLATION"); }

std::string settings() {
  std::string text = "-c lock_timeout=10s -c client_min_messages=warning";
  const char* isolation = callers_isolation();
  if (isolation == nullptr) return text;
  text += " -c default_transaction_isolation=";
  for (const char* c = isolation; *c != '\0'; ++c) text += *c == '_' ? std::string("\\\\ ") : std::string(1, *c);
  return text;
}

constexpr Oid text_type = 25;
constexpr Oid bigint_type = 20;

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};

/// The arguments of a call, each with its type, texts in binary form, so that any byte goes through.
class Arguments {
 public:
  void text(std::string_view name, std::string_view value) { put(name, text_type, std::string(value), 1); }
  void number(std::string_view name, std::int64_t value) { put(name, bigint_type, std::to_string(value), 0); }
  void slot(std::string_view name, int value) { put(name, 23, std::to_string(value), 0); }
  [[nodiscard]] const std::string& list() const { return list_; }

  [[nodiscard]] PGresult* send(PGconn* connection, const std::string& sql) const {
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& value : values_) {
      values.push_back(value.data());
      lengths.push_back(static_cast<int>(value.size()));
    }
    return PQexecParams(connection, sql.c_str(), static_cast<int>(values.size()), types_.data(), values.data(),
                        lengths.data(), formats_.data(), 0);
  }

 private:
  void put(std::string_view name, Oid type, std::string value, int format) {
    values_.push_back(std::move(value));
    types_.push_back(type);
    formats_.push_back(format);
    list_ += (list_.empty() ? "" : ", ") + std::string(name) + " => $" + std::to_string(values_.size());
  }
  std::vector<std::string> values_;
  std::vector<Oid> types_;
  std::vector<int> formats_;
  std::string list_;
};

class PostgresqlSession final : public Session {
 public:
  explicit PostgresqlSession(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
  }

  SqlResult<void> run(std::string_view sql) override {
    return without_rows(read(PQexec(connection_.get(), std::string(sql).c_str())));
  }
  SqlResult<Rows> rows(std::string_view sql) override {
    return read(PQexec(connection_.get(), std::string(sql).c_str()));
  }
  SqlResult<void> begin() override { return run("BEGIN"); }
  SqlResult<void> commit() override { return run("COMMIT"); }
  SqlResult<void> rollback() override { return run("ROLLBACK"); }
  bool in_transaction() const override { return PQtransactionStatus(connection_.get()) != PQTRANS_IDLE; }
  SqlResult<void> block_writers(std::string_view counter) override {
    const auto table = [counter](const char* ending) { return std::string(counter) + ending; };
    const auto locked = run("BEGIN; LOCK TABLE " + table("_slots") + " IN SHARE ROW EXCLUSIVE MODE");
    const auto journal = rows("SELECT to_regclass('" + table("_deltas") + "') IS NOT NULL");
    if (!locked || !journal || journal->front().front() == "f") return locked;
    return run("LOCK TABLE " + table("_deltas") + " IN SHARE ROW EXCLUSIVE MODE");
  }
  Caller caller() const override { return Caller(connection_.get()); }

  SqlResult<void> add(std::string_view counter, const Rule& rule, const Add& add) override {
    Arguments arguments;
    if (rule.key) arguments.text(*rule.key, add.key);
    arguments.number("amount", add.amount);
    if (!add.request_id.empty()) arguments.text("request_id", add.request_id);
    if (add.value) arguments.number("value", *add.value);
    if (add.slot) arguments.slot("slot", *add.slot);
    return call(counter, arguments, {});
  }
  SqlResult<void> add_by_default(std::string_view counter, const Rule& rule, std::string_view key) override {
    Arguments arguments;
    if (rule.key) arguments.text(*rule.key, key);
    return call(counter, arguments, {});
  }
  SqlResult<void> add_written(std::string_view counter, const Rule& rule, std::string_view key,
                              std::string_view amount) override {
    Arguments arguments;
    if (rule.key) arguments.text(*rule.key, key);
    return call(counter, arguments, (rule.key ? ", amount => " : "amount => ") + std::string(amount));
  }

 private:
  SqlResult<void> call(std::string_view counter, const Arguments& arguments, const std::string& more) {
    const auto sql = "SELECT " + std::string(counter) + "_add(" + arguments.list() + more + ")";
    return without_rows(read(arguments.send(connection_.get(), sql)));
  }
  static SqlResult<Rows> read(PGresult* answer) {
    const std::unique_ptr<PGresult, Clear> result(answer);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      const char* said = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY);
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      return tl::unexpected(SqlError{said == nullptr ? PQresultErrorMessage(result.get()) : said,
                                     state != nullptr && std::string_view(state).starts_with("40")});
    }
    Rows rows;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      auto& values = rows.emplace_back();
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        const bool null = PQgetisnull(result.get(), row, column) != 0;
        values.emplace_back(null ? "NULL" : PQgetvalue(result.get(), row, column));
      }
    }
    return rows;
  }
  static SqlResult<void> without_rows(SqlResult<Rows> rows) {
    if (!rows) return tl::unexpected(rows.error());
    return {};
  }

  std::unique_ptr<PGconn, Finish> connection_;
};

std::unique_ptr<Session> session_on(const std::string& database) {
  return std::make_unique<PostgresqlSession>(PostgresqlServer::instance().conninfo(database) + " options='" +
                                             settings() + "'");
}

/// A database, and a session in it that stays, to empty it: to begin either takes longer than most tests.
struct TestDatabase {
  std::string name;
  std::unique_ptr<Session> keeper;
};

/// Databases that stands have left behind, empty.
class EmptyDatabases {
 public:
  static EmptyDatabases& instance() {
    static EmptyDatabases databases;
    return databases;
  }
  TestDatabase take() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto database = std::move(free_.back());
      free_.pop_back();
      return database;
    }
    const auto name = "contract_" + std::to_string(++made_);
    must(*session_on("postgres"), "CREATE DATABASE " + name + " TEMPLATE template0");
    return {name, session_on(name)};
  }
  /// Ends the sessions in it, and with them their locks, and removes whatever there is.
  void give_back(TestDatabase database) {
    must(*database.keeper, "ALTER DATABASE " + database.name + " RESET ALL");
    must(*database.keeper, "SET client_min_messages = error; SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '" +
                               database.name + "' AND pid <> pg_backend_pid()");
    must(*database.keeper,
         "DO $$ DECLARE one regnamespace; BEGIN"
         " FOR one IN SELECT oid::regnamespace FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%'"
         " AND nspname <> 'information_schema'"
         " LOOP EXECUTE format('DROP SCHEMA %s CASCADE', one); END LOOP;"
         " CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO public; END $$");
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(database));
  }

 private:
  static void must(Session& session, const std::string& sql) {
    if (const auto done = session.run(sql); !done) throw std::runtime_error(done.error().message + ": " + sql);
  }
  std::mutex mutex_;
  std::vector<TestDatabase> free_;
  int made_ = 0;
};

class PostgresqlStand final : public Stand {
 public:
  PostgresqlStand() : database_(EmptyDatabases::instance().take()) {}
  ~PostgresqlStand() override {
    const auto name = database_.name;
    try {
      EmptyDatabases::instance().give_back(std::move(database_));
    } catch (const std::exception& error) {  // it is not used again
      std::cerr << name << " is left as it is: " << error.what() << "\n";
    }
  }
  PostgresqlStand(const PostgresqlStand&) = delete;
  PostgresqlStand& operator=(const PostgresqlStand&) = delete;

  const Traits& traits() const override {
    static const Traits traits = [] {
      Traits made;
      made.dialect = "postgresql";
      made.engine = "postgresql";
      made.padded = true;
      made.journal = true;
      made.refusal_kills_transaction = true;
      made.sql_checks_utf8 = true;
      made.judges_sums = true;
      made.sql_trims_numbers = true;
      made.callers_begin_again = callers_isolation() != nullptr;
      return made;
    }();
    return traits;
  }
  std::string dsn() const override { return "postgresql:" + PostgresqlServer::instance().conninfo(database_.name); }
  std::unique_ptr<Session> session() override { return session_on(database_.name); }
  SqlResult<void> pretend_newer_schema() override {
    return session()->run("UPDATE splitcount_schema SET version = version + 1");
  }
  /// Every index against its table, by the server's own amcheck.
  std::string damage() override {
    auto checker = session();
    const auto made = checker->run(
        "CREATE SCHEMA IF NOT EXISTS damage_check; CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA damage_check");
    if (!made) return made.error().message;
    const auto rows = checker->rows(
        "SELECT count(*) FROM (SELECT damage_check.bt_index_check(indexrelid, true) FROM pg_index "
        "JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam AND amname = 'btree' "
        "WHERE relpersistence = 'p' AND indisvalid OFFSET 0) AS checked");
    return rows ? std::string() : rows.error().message;
  }
  std::vector<std::string> objects() override {
    const auto rows = session()->rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1");
    if (!rows) throw std::runtime_error(rows.error().message);
    std::vector<std::string> names;
    for (const auto& row : *rows) names.push_back(row.front());
    return names;
  }

 private:
  TestDatabase database_;
};

}  // namespace

std::unique_ptr<Stand> make_postgresql_stand() { return std::make_unique<PostgresqlStand>(); }

}  // namespace splitcount::contract
