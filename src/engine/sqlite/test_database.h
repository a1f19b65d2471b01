// For tests: a database file in a folder of its own, seen through the engine and through plain SQLite.
#pragma once

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
  TestFolder();
  ~TestFolder();
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
  explicit Plain(const std::string& path);
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }

  /// The error message, or nothing.
  std::string run(const std::string& sql);
  /// The error's code: what stands before the colon.
  std::string code(const std::string& sql);
  /// Columns joined by '|', rows by ' '; the error message where there is one.
  std::string rows(const std::string& sql);

 private:
  Handle handle_;
};

class TestDatabase : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.file("test.db"); }

  [[nodiscard]] std::unique_ptr<Connection> connect(bool create = true) const;
  Connection& connection();
  /// Closes it, as a program that ends.
  void disconnect() { connection_.reset(); }

  StoredCounter define(const std::string& name, const Rule& rule, const std::vector<std::string>& keys = {});
  /// In a transaction of its own, committed where it succeeds.
  Result<std::vector<Result<Added>>> apply(const StoredCounter& counter, const std::vector<ReadyAdd>& adds,
                                           Refusal refusal = Refusal::all);
  /// The outcome of one add in a word: "0" or "0 replay" (the slot), or an error's code.
  std::string add(const StoredCounter& counter, const ReadyAdd& one);
  Plain& plain();

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
