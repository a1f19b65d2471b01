// For tests: SQLite's file system with a write or a sync that fails.
#pragma once

#include <memory>

namespace splitcount::engine::sqlite {

enum class Fault { no_room, write_error, sync_error };

/// While it lives every file that SQLite opens goes through it. One at a time.
class FaultyFiles {
 public:
  FaultyFiles();
  ~FaultyFiles();
  FaultyFiles(const FaultyFiles&) = delete;
  FaultyFiles& operator=(const FaultyFiles&) = delete;

  /// From the n-th write (or sync, for sync_error) on, counted from 1, all of them fail, until `mend`.
  void break_at(Fault fault, int n);
  void mend();
  /// Writes (or syncs) that were asked for since the last break_at.
  [[nodiscard]] int seen() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace splitcount::engine::sqlite
