// SQLite: one file in a directory of its own.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <sqlite3.h>

#include <contract/stand.h>

namespace splitcount::contract {
namespace {

constexpr int busy_wait_ms = 10'000;

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* handle, std::string_view sql) : handle_(handle) {
    code_ = sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind(std::string_view text) {
    if (code_ != SQLITE_OK) return;
    code_ = sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bind(std::int64_t number) {
    if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, ++bound_, number);
  }
  SqlResult<Rows> run() {
    Rows rows;
    if (code_ != SQLITE_OK) return tl::unexpected(SqlError{sqlite3_errmsg(handle_)});
    while ((code_ = sqlite3_step(statement_)) == SQLITE_ROW) {
      auto& row = rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(statement_); ++column) row.push_back(text_of(column));
    }
    if (code_ != SQLITE_DONE) return tl::unexpected(SqlError{sqlite3_errmsg(handle_)});
    return rows;
  }

 private:
  std::string text_of(int column) {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return "NULL";
    const void* bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string{} : std::string(static_cast<const char*>(bytes), size);
  }

  sqlite3* handle_;
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
  int bound_ = 0;
};

class SqliteSession final : public Session {
 public:
  explicit SqliteSession(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) {
      std::runtime_error error(sqlite3_errmsg(handle_));
      sqlite3_close(handle_);
      throw error;
    }
    sqlite3_busy_timeout(handle_, busy_wait_ms);
  }
  ~SqliteSession() override { sqlite3_close(handle_); }
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;

  SqlResult<void> run(std::string_view sql) override {
    char* message = nullptr;
    if (sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, &message) == SQLITE_OK) return {};
    SqlError error{message == nullptr ? sqlite3_errmsg(handle_) : message};
    sqlite3_free(message);
    return tl::unexpected(std::move(error));
  }
  SqlResult<Rows> rows(std::string_view sql) override { return SqliteStatement(handle_, sql).run(); }

  SqlResult<void> begin() override { return run("BEGIN"); }
  SqlResult<void> commit() override { return run("COMMIT"); }
  SqlResult<void> rollback() override { return run("ROLLBACK"); }
  bool in_transaction() const override { return sqlite3_get_autocommit(handle_) == 0; }
  SqlResult<void> block_writers(std::string_view) override { return run("BEGIN IMMEDIATE"); }
  Caller caller() const override { return Caller(handle_); }

  SqlResult<void> add(std::string_view counter, const Rule& rule, const Add& add) override {
    std::string columns = "amount";
    std::string marks = "?";
    auto column = [&](const std::string& name) { columns += ", " + name, marks += ", ?"; };
    if (rule.key) column(*rule.key);
    if (!add.request_id.empty()) column("request_id");
    if (add.value) column("value");
    if (add.slot) column("slot");
    SqliteStatement statement(handle_, insert(counter, columns, marks));
    statement.bind(add.amount);
    if (rule.key) statement.bind(add.key);
    if (!add.request_id.empty()) statement.bind(add.request_id);
    if (add.value) statement.bind(*add.value);
    if (add.slot) statement.bind(static_cast<std::int64_t>(*add.slot));
    return without_rows(statement.run());
  }

  SqlResult<void> add_by_default(std::string_view counter, const Rule& rule, std::string_view key) override {
    if (!rule.key) return run("INSERT INTO " + std::string(counter) + "_add DEFAULT VALUES");
    SqliteStatement statement(handle_, insert(counter, *rule.key, "?"));
    statement.bind(key);
    return without_rows(statement.run());
  }

  SqlResult<void> add_written(std::string_view counter, const Rule& rule, std::string_view key,
                              std::string_view amount) override {
    if (!rule.key) return without_rows(SqliteStatement(handle_, insert(counter, "amount", std::string(amount))).run());
    SqliteStatement statement(handle_, insert(counter, *rule.key + ", amount", "?, " + std::string(amount)));
    statement.bind(key);
    return without_rows(statement.run());
  }

 private:
  static std::string insert(std::string_view counter, const std::string& columns, const std::string& values) {
    return "INSERT INTO " + std::string(counter) + "_add (" + columns + ") VALUES (" + values + ")";
  }
  static SqlResult<void> without_rows(SqlResult<Rows> rows) {
    if (!rows) return tl::unexpected(rows.error());
    return {};
  }

  sqlite3* handle_ = nullptr;
};

class SqliteStand final : public Stand {
 public:
  explicit SqliteStand(const std::string& parent) {
    std::string pattern = parent + "/splitcount-contract-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory for the test's database");
    folder_ = pattern;
  }
  ~SqliteStand() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  SqliteStand(const SqliteStand&) = delete;
  SqliteStand& operator=(const SqliteStand&) = delete;

  const Traits& traits() const override {
    static const Traits traits = [] {
      Traits made;
      made.dialect = "sqlite";
      made.engine = "sqlite";
      made.one_writer = true;
      made.slots_default = 1;
      made.readers_may_block_writers = true;  // in a rollback journal, which a script does not change
      made.sql_checks_utf8 = true;
      return made;
    }();
    return traits;
  }
  std::string dsn() const override { return "sqlite:" + path(); }
  std::unique_ptr<Session> session() override { return std::make_unique<SqliteSession>(path()); }
  SqlResult<void> pretend_newer_schema() override {
    return session()->run("UPDATE splitcount_schema SET version = version + 1");
  }
  std::string damage() override {
    const auto rows = session()->rows("PRAGMA integrity_check");
    if (!rows) return rows.error().message;
    if (rows->size() == 1 && rows->front().front() == "ok") return {};
    return rows->empty() ? "integrity_check says nothing" : rows->front().front();
  }
  std::vector<std::string> objects() override {
    std::vector<std::string> names;
    const auto rows = session()->rows("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name");
    if (!rows) throw std::runtime_error(rows.error().message);
    for (const auto& row : *rows) names.push_back(row.front());
    return names;
  }

 private:
  std::string path() const { return folder_ + "/counts.db"; }
  std::string folder_;
};

}  // namespace

std::unique_ptr<Stand> make_sqlite_stand(const std::string& parent) {
  if (!parent.empty()) return std::make_unique<SqliteStand>(parent);
  const std::string memory = "/dev/shm";
  return std::make_unique<SqliteStand>(
      access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path().string());
}

}  // namespace splitcount::contract
