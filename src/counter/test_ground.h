// For tests: a database file behind a faulty engine, and words for what came out.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <base/clock.h>
#include <counter/access.h>
#include <counter/test_faulty_engine.h>

namespace splitcount::counter {

template <class T>
[[nodiscard]] testing::AssertionResult done(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_name(result.error().code) << ": " << result.error().message;
}

/// A refusal with this code that claims no unknown outcome.
template <class T>
[[nodiscard]] testing::AssertionResult refused(const Result<T>& result, ErrorCode code) {
  if (result) return testing::AssertionFailure() << "done, where " << error_code_name(code) << " was due";
  const Error& error = result.error();
  if (error.code == code && !error.outcome_unknown) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_name(error.code) << " (" << error.message << ") where "
                                     << error_code_name(code) << " was due";
}

/// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "splitcount-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Another program that uses the file without splitcount.
class Plain {
 public:
  explicit Plain(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
    sqlite3_busy_timeout(handle_, 60'000);
  }
  ~Plain() { sqlite3_close(handle_); }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  [[nodiscard]] sqlite3* get() const { return handle_; }
  void run(const char* sql) { EXPECT_EQ(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql; }

 private:
  sqlite3* handle_ = nullptr;
};

inline Deadline soon() { return deadline_in(std::chrono::seconds(5)); }
inline Deadline far_away() { return deadline_in(std::chrono::minutes(5)); }

class Ground : public testing::Test {
 protected:
  /// Another program's transaction, which holds up every write of ours until it ends.
  class Blocker {
   public:
    explicit Blocker(const std::string& path) : plain_(path) { plain_.run("BEGIN IMMEDIATE"); }
    ~Blocker() { plain_.run("ROLLBACK"); }

   private:
    Plain plain_;
  };

  [[nodiscard]] std::string path() const { return folder_.file("counters.db"); }
  Counter define(std::string_view name, const RuleOptions& options, std::span<const std::string> keys = {}) {
    return database_.define(name, options, keys).value_or_throw();
  }
  /// Another program on the same file.
  [[nodiscard]] Database another() const { return Database::open(path()).value_or_throw(); }
  static std::int64_t total(const Counter& counter, std::string_view key = {}) {
    const auto read = counter.total(key);
    EXPECT_TRUE(done(read));
    return read ? read->total : -1;
  }

  Folder folder_;
  std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
  Database database_ = Access::database(std::make_shared<FaultyEngine>(faults_, engine::open(path()).value_or_throw()));
};

}  // namespace splitcount::counter
