// A file system that fails when told to: SQLite's own VFS with a wrapper around it, the default of this process.
// It sees only the files of one folder at a time; all others pass through untouched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace splitcount::faults {

/// What the file system can be asked for, as far as it can fail.
enum class FileCall : std::uint8_t { open, read, write, truncate, sync, lock, shared_memory, remove };

/// How a call fails.
enum class Failure : std::uint8_t {
  io_error,  ///< the operating system failed it
  full,      ///< no room left (writes only; other calls fail as io_error)
  half,      ///< a write stores its first half and then fails; a sync or a removal is done and then reported as failed
};

namespace failing_vfs {

/// Registers it and makes it the default. Once a process, before any database is opened.
void install();

/// From now on calls on files in this folder are counted from one.
void watch(const std::string& folder);
/// The nth counted call fails; with `stays` every later one fails too, as on a disk that has died.
void fail_at(std::int64_t nth, Failure failure, bool stays);
/// Nothing fails any more, and nothing is counted.
void heal();
[[nodiscard]] std::int64_t calls();     ///< counted since watch()
[[nodiscard]] std::int64_t failures();  ///< that really happened since watch()
[[nodiscard]] FileCall failed_call();   ///< the first of them

/// A file as it is on disk for sure, and the writes that may or may not have arrived there.
struct RecordedFile {
  struct Change {
    std::int64_t offset = 0;
    std::string bytes;
    bool truncates = false;  ///< cut at `offset`
  };
  std::string synced;
  std::vector<Change> unsynced;
  bool removed = false;  ///< without a sync of its folder, so it may be there again
};
/// By file name without its folder.
using Recording = std::map<std::string, RecordedFile>;

/// Records the watched folder from its present state; `at_each` sees the state after each write, truncation and sync.
void record(std::function<void(const Recording&)> at_each);
void stop_recording();

}  // namespace failing_vfs
}  // namespace splitcount::faults
