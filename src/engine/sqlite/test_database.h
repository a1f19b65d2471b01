// For tests: a database file in a folder of its own, seen through the engine and through plain SQLite.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <base/clock.h>
#include <engine/engine.h>
#include <engine/sqlite/handle.h>

namespace splitcount::engine::sqlite {

inline Deadline soon() { return deadline_in(std::chrono::milliseconds(5'000)); }
inline Deadline at_once() { return deadline_in(std::chrono::milliseconds(0)); }

/// A folder that is removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "splitcount-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A plain handle, as any other program would use the file.
class Plain {
 public:
  explicit Plain(const std::string& path) {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &opened), SQLITE_OK);
    handle_.reset(opened);
    sqlite3_busy_timeout(opened, 5'000);
    run("PRAGMA synchronous = OFF");  // faster; no test pulls the plug
    // A quoted name that does not resolve would be taken for a text, and hide a mistake.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  }
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }

  /// The error message, or nothing.
  std::string run(const std::string& sql) {
    char* message = nullptr;
    sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, &message);
    std::string out = message == nullptr ? "" : message;
    sqlite3_free(message);
    return out;
  }
  /// The error's code: what stands before the colon.
  std::string code(const std::string& sql) {
    const auto message = run(sql);
    return message.substr(0, message.find(':'));
  }
  /// Columns joined by '|', rows by ' '; the error message where there is one.
  std::string rows(const std::string& sql) {
    std::string out;
    char* message = nullptr;
    sqlite3_exec(get(), sql.c_str(), add_row, &out, &message);
    if (message != nullptr) out = message;
    sqlite3_free(message);
    return out;
  }

 private:
  static int add_row(void* out, int columns, char** values, char** /*names*/) {
    auto& text = *static_cast<std::string*>(out);
    if (!text.empty()) text += ' ';
    for (int i = 0; i < columns; ++i) text += (i > 0 ? "|" : "") + std::string(values[i] == nullptr ? "NULL" : values[i]);
    return 0;
  }
  Handle handle_;
};

class TestDatabase : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.file("test.db"); }

  [[nodiscard]] std::unique_ptr<Connection> connect(bool create = true) const {
    auto engine = engine::open(path());
    EXPECT_TRUE(engine);
    auto connection = (*engine)->connect(create, soon());
    EXPECT_TRUE(connection) << (connection ? "" : connection.error().message);
    return connection ? std::move(*connection) : nullptr;
  }
  Connection& connection() {
    if (!connection_) connection_ = connect();
    return *connection_;
  }
  /// Closes it, as a program that ends.
  void disconnect() { connection_.reset(); }

  StoredCounter define(const std::string& name, const Rule& rule, const std::vector<std::string>& keys = {}) {
    auto& c = connection();
    EXPECT_TRUE(c.begin(soon()));
    const auto installed = c.install();
    EXPECT_TRUE(installed) << (installed ? "" : installed.error().message);
    const auto created = c.create(name, rule);
    EXPECT_TRUE(created) << (created ? "" : created.error().message);
    auto counter = c.find(name);
    EXPECT_TRUE(counter && *counter);
    if (!keys.empty()) {
      EXPECT_TRUE(c.create_keys(**counter, keys));
    }
    EXPECT_TRUE(c.commit());
    return **counter;
  }

  /// In a transaction of its own, committed where it succeeds.
  Result<std::vector<Result<Added>>> apply(const StoredCounter& counter, const std::vector<ReadyAdd>& adds,
                                           Refusal refusal = Refusal::all) {
    auto& c = connection();
    EXPECT_TRUE(c.begin(soon()));
    auto applied = c.apply(counter, adds, refusal);
    if (!applied) {
      c.rollback();
      return applied;
    }
    EXPECT_TRUE(c.commit());
    return applied;
  }
  /// The outcome of one add in a word: "0" or "0 replay" (the slot), or an error's code.
  std::string add(const StoredCounter& counter, const ReadyAdd& one) {
    const auto applied = apply(counter, {one});
    if (!applied) return std::string(error_code_name(applied.error().code));
    return std::to_string(applied->front()->slot) + (applied->front()->replay ? " replay" : "");
  }
  Plain& plain() {
    if (!plain_) plain_ = std::make_unique<Plain>(path());
    return *plain_;
  }

  TestFolder folder_;

 private:
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Plain> plain_;
};

inline Rule by_page() {
  Rule rule;
  rule.key = "page";
  return rule;
}

inline ReadyAdd to_key(std::string_view key, std::int64_t amount = 1, int slot = 0, std::string_view request_id = {}) {
  return {.key = key, .amount = amount, .request_id = request_id, .slot = slot};
}

inline std::string code_of(const auto& result) {
  return result ? "done" : std::string(error_code_name(result.error().code));
}

}  // namespace splitcount::engine::sqlite
