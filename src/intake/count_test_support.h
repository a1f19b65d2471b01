// For tests of whole runs: a database with one counter, and counting into it.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <splitcount/combiner.h>
#include <intake/run.h>
#include <intake/test_support.h>

namespace splitcount::intake {

/// Bounds so small that a few hundred lines make many chunks and commits.
inline Bounds small_bounds() {
  Bounds bounds;
  bounds.chunk_bytes = 2'000;
  bounds.group_bytes = 5'000;
  bounds.progress_every_ms = {};
  return bounds;
}

class CountTest : public testing::Test {
 protected:
  explicit CountTest(RuleOptions options = with_key()) : counter_(database_.define("hits", options).value_or_throw()) {}

  static RuleOptions with_key() {
    RuleOptions options;
    options.key = "target";
    return options;
  }

  CountReport count(std::string_view path, const CountOptions& options = {}, const Bounds& bounds = Bounds{}) {
    auto combiner = Combiner::open(database_).value_or_throw();
    return run_count(combiner, counter_, path, options, bounds);
  }
  CountReport count_again(std::string_view path, const Bounds& bounds = Bounds{}) {
    CountOptions options;
    options.again = true;
    return count(path, options, bounds);
  }
  /// Stops after the first commits: part of the file is counted.
  CountReport count_part(std::string_view path, CountOptions options = {}) {
    std::atomic<bool> stop{false};
    options.stop = &stop;
    options.progress = [&](const Progress& progress) { stop = progress.lines_read > 0; };
    return count(path, options, small_bounds());
  }
  std::int64_t total(std::string_view key = {}) { return counter_.total(key).value_or_throw().total; }
  std::size_t streams() {
    return Combiner::open(database_).value_or_throw().streams("file/").value_or_throw().size();
  }

  TestFolder folder_;
  Database database_ = Database::open(folder_.file("counts.db")).value_or_throw();
  Counter counter_;
};

inline void expect_done(const CountReport& report) {
  EXPECT_FALSE(report.error) << report.error->message;
  EXPECT_FALSE(report.stopped);
}

}  // namespace splitcount::intake
