// Prepared statements of one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <engine/engine.h>
#include <engine/sqlite/handle.h>

namespace splitcount::engine::sqlite {

/// Statements by name, and by counter and name. Those of a counter go when its rule has another version, and when
/// counters_max others were used since. A statement stays valid until one of another counter is asked for.
class StatementCache {
 public:
  static constexpr std::size_t counters_max = 32;

  explicit StatementCache(sqlite3* database) noexcept : database_(database) {}

  [[nodiscard]] Result<sqlite3_stmt*> shared(std::string_view name);
  [[nodiscard]] Result<sqlite3_stmt*> of(const StoredCounter& counter, std::string_view name);

 private:
  using ByName = std::map<std::string, Statement, std::less<>>;
  struct OfCounter {
    std::int64_t version = 0;
    Instant created_at{};
    std::uint64_t used = 0;
    ByName statements;
  };
  OfCounter& statements_of(const StoredCounter& counter);

  sqlite3* database_;
  ByName shared_;
  std::map<std::string, OfCounter, std::less<>> counters_;
  std::uint64_t uses_ = 0;
};

}  // namespace splitcount::engine::sqlite
