// MariaDB: a database of its own on the tests' server.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <mysql.h>

#include <contract/mariadb_server.h>
#include <contract/stand.h>

namespace splitcount::contract {
namespace {

/// Of the callers' transactions, with _ for a space; null: the server's default, REPEATABLE READ.
std::string callers_isolation() {
  const char* given = std::getenv("SPLITCOUNT_MARIADB_ISOLATION");
  std::string name = given == nullptr ? "REPEATABLE_READ" : given;
  for (auto& c : name) c = c == '_' ? ' ' : c;
  return name;
}

struct Close {
  void operator()(MYSQL* handle) const { mysql_close(handle); }
};
struct Free {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
struct ClosePipe {
  void operator()(FILE* file) const { pclose(file); }
};

SqlError error_of(unsigned number, const char* said) { return {said, number == 1213 || number == 1020}; }

/// The values of a call, bound as a driver does it.
class Arguments {
 public:
  void text(std::string_view value) { put(MYSQL_TYPE_STRING, std::string(value)); }
  void number(std::int64_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    put(MYSQL_TYPE_LONGLONG, std::move(bytes));
  }
  void null() { put(MYSQL_TYPE_NULL, {}); }
  /// SQL text in the place of a value.
  void written(std::string_view sql) { list_ += (list_.empty() ? "" : ", ") + std::string(sql); }

  SqlResult<void> call(MYSQL* handle, std::string_view procedure) {
    const auto sql = "CALL " + std::string(procedure) + "(" + list_ + ", @counted)";
    const std::unique_ptr<MYSQL_STMT, CloseStatement> statement(mysql_stmt_init(handle));
    std::vector<MYSQL_BIND> binds(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      binds[i].buffer_type = types_[i];
      binds[i].buffer = values_[i].data();
      binds[i].buffer_length = values_[i].size();
    }
    auto* raw = statement.get();
    if (mysql_stmt_prepare(raw, sql.data(), sql.size()) != 0 || mysql_stmt_bind_param(raw, binds.data()) != 0 ||
        mysql_stmt_execute(raw) != 0) {
      return tl::unexpected(error_of(mysql_stmt_errno(raw), mysql_stmt_error(raw)));
    }
    while (mysql_stmt_next_result(raw) == 0) {
    }
    return {};
  }

 private:
  void put(enum_field_types type, std::string value) {
    types_.push_back(type);
    values_.push_back(std::move(value));
    written("?");
  }
  std::vector<enum_field_types> types_;
  std::vector<std::string> values_;
  std::string list_;
};

class MariadbSession final : public Session {
 public:
  MariadbSession(std::string database, unsigned long flags)
      : database_(std::move(database)), handle_(mysql_init(nullptr)) {
    mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(handle_.get(), nullptr, "root", nullptr, database_.c_str(), 0,
                           MariadbServer::instance().socket().c_str(), CLIENT_MULTI_STATEMENTS | flags) == nullptr) {
      throw std::runtime_error(mysql_error(handle_.get()));
    }
    const auto set = run("SET SESSION innodb_lock_wait_timeout = 10, lock_wait_timeout = 10; SET SESSION TRANSACTION ISOLATION LEVEL " +
                         callers_isolation());
    if (!set) throw std::runtime_error(set.error().message);
  }

  SqlResult<void> run(std::string_view sql) override {
    if (sql.find("DELIMITER") != std::string_view::npos) return run_by_client(sql);
    auto all = rows(sql);
    if (!all) return tl::unexpected(all.error());
    return {};
  }
  SqlResult<Rows> rows(std::string_view sql) override {
    Rows rows;
    int failed = mysql_real_query(handle_.get(), sql.data(), sql.size());
    while (failed == 0) {
      const std::unique_ptr<MYSQL_RES, Free> result(mysql_store_result(handle_.get()));
      if (result != nullptr) rows = read(result.get());
      failed = mysql_next_result(handle_.get());
    }
    if (mysql_errno(handle_.get()) != 0) {
      return tl::unexpected(error_of(mysql_errno(handle_.get()), mysql_error(handle_.get())));
    }
    return rows;
  }
  SqlResult<void> begin() override { return run("START TRANSACTION"); }
  SqlResult<void> commit() override { return run("COMMIT"); }
  SqlResult<void> rollback() override { return run("ROLLBACK"); }
  bool in_transaction() const override {
    unsigned status = 0;
    mariadb_get_infov(handle_.get(), MARIADB_CONNECTION_SERVER_STATUS, &status);
    return (status & SERVER_STATUS_IN_TRANS) != 0;
  }
  /// Every row of the slots, and every place between them.
  SqlResult<void> block_writers(std::string_view counter) override {
    const auto table = [counter](const char* ending) { return std::string(counter) + ending; };
    auto locked = run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION; SELECT * FROM " + table("_slots") + " FOR UPDATE");
    const auto journal = rows("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" +
                              table("_deltas") + "'");
    if (!locked || !journal || journal->front().front() == "0") return locked;
    return run("SELECT * FROM " + table("_deltas") + " FOR UPDATE");
  }
  Caller caller() const override { return Caller(handle_.get()); }

  SqlResult<void> add(std::string_view counter, const Rule& rule, const Add& add) override {
    Arguments arguments;
    if (rule.key) arguments.text(add.key);
    arguments.number(add.amount);
    add.request_id.empty() ? arguments.null() : arguments.text(add.request_id);
    add.value ? arguments.number(*add.value) : arguments.null();
    add.slot ? arguments.number(*add.slot) : arguments.null();
    return arguments.call(handle_.get(), std::string(counter) + "_add");
  }
  SqlResult<void> add_by_default(std::string_view counter, const Rule& rule, std::string_view key) override {
    return add(counter, rule, {.key = key});
  }
  SqlResult<void> add_written(std::string_view counter, const Rule& rule, std::string_view key,
                              std::string_view amount) override {
    Arguments arguments;
    if (rule.key) arguments.text(key);
    arguments.written(amount);
    for (int i = 0; i < 3; ++i) arguments.null();
    return arguments.call(handle_.get(), std::string(counter) + "_add");
  }

 private:
  /// As a person runs a script: only the client knows what DELIMITER means.
  SqlResult<void> run_by_client(std::string_view sql) {
    std::string path = "/tmp/splitcount-script-XXXXXX";
    const int descriptor = mkstemp(path.data());
    const bool is_written = descriptor >= 0 && write(descriptor, sql.data(), sql.size()) == static_cast<ssize_t>(sql.size());
    if (descriptor >= 0) close(descriptor);
    const auto command = "mariadb --no-defaults --socket=" + MariadbServer::instance().socket() + " --user=root " + database_ +
                         " <" + path + " 2>&1";
    std::string said;
    const auto status = [&] {
      FILE* pipe = popen(command.c_str(), "r");
      std::array<char, 4096> buffer{};
      while (pipe != nullptr && fgets(buffer.data(), buffer.size(), pipe) != nullptr) said += buffer.data();
      return pipe == nullptr ? -1 : pclose(pipe);
    }();
    unlink(path.c_str());
    if (!is_written || status != 0) return tl::unexpected(SqlError{said, false});
    return {};
  }
  static Rows read(MYSQL_RES* result) {
    Rows rows;
    while (MYSQL_ROW row = mysql_fetch_row(result)) {
      const unsigned long* lengths = mysql_fetch_lengths(result);
      auto& values = rows.emplace_back();
      for (unsigned column = 0; column < mysql_num_fields(result); ++column) {
        values.emplace_back(row[column] == nullptr ? std::string("NULL") : std::string(row[column], lengths[column]));
      }
    }
    return rows;
  }

  std::string database_;
  std::unique_ptr<MYSQL, Close> handle_;
};

class MariadbStand final : public Stand {
 public:
  explicit MariadbStand(unsigned long flags) : flags_(flags), keeper_("mysql", 0) {
    static std::atomic<int> made = 0;
    name_ = "contract_" + std::to_string(++made);
    must("CREATE DATABASE " + name_);
  }
  /// Ends the sessions in it, and with them their locks.
  ~MariadbStand() override {
    try {
      const auto sessions = keeper_.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '" + name_ + "'");
      if (sessions) {
        for (const auto& session : *sessions) (void)keeper_.run("KILL " + session.front());
      }
      must("DROP DATABASE " + name_);
    } catch (const std::exception& error) {
      std::cerr << name_ << " is left as it is: " << error.what() << "\n";
    }
  }
  MariadbStand(const MariadbStand&) = delete;
  MariadbStand& operator=(const MariadbStand&) = delete;

  const Traits& traits() const override {
    static const Traits traits = [] {
      Traits made;
      made.dialect = "mariadb";
      made.engine = "mariadb";
      made.journal = true;
      made.sql_checks_utf8 = true;
      made.judges_sums = true;
      const auto isolation = callers_isolation();
      made.callers_begin_again = isolation == "SERIALIZABLE";
      made.readers_may_block_writers = isolation == "SERIALIZABLE";
      made.temporary_tables_hide_ours = true;
      return made;
    }();
    return traits;
  }
  std::string dsn() const override { return MariadbServer::instance().dsn(name_); }
  std::unique_ptr<Session> session() override { return std::make_unique<MariadbSession>(name_, flags_); }
  SqlResult<void> pretend_newer_schema() override {
    return session()->run("UPDATE splitcount_schema SET version = version + 1");
  }
  std::string damage() override {
    auto checker = session();
    const auto tables = checker->rows(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'");
    if (!tables) return tables.error().message;
    for (const auto& table : *tables) {
      const auto checked = checker->rows("CHECK TABLE " + table.front());
      if (!checked) return checked.error().message;
      if (checked->back().back() != "OK") return checked->back().back();
    }
    return {};
  }
  std::vector<std::string> objects() override {
    const auto rows = session()->rows(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "
        "UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() "
        "UNION ALL SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME <> 'PRIMARY' "
        "ORDER BY 1");
    if (!rows) throw std::runtime_error(rows.error().message);
    std::vector<std::string> names;
    for (const auto& row : *rows) names.push_back(row.front());
    return names;
  }

 private:
  void must(const std::string& sql) {
    if (const auto done = keeper_.run(sql); !done) throw std::runtime_error(done.error().message + ": " + sql);
  }
  unsigned long flags_;
  MariadbSession keeper_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Stand> make_mariadb_stand() { return std::make_unique<MariadbStand>(0); }
std::unique_ptr<Stand> make_mariadb_stand_of_found_rows() { return std::make_unique<MariadbStand>(CLIENT_FOUND_ROWS); }

}  // namespace splitcount::contract
