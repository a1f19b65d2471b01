// Who holds which lock, and who waits for whom.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <splitcount/error.h>

#include <measure/target.h>

namespace splitcount::engine {
class Console;
}

namespace splitcount::measure {

/// Locks that one transaction holds, as another session meets them.
struct LocksHeld {
  int one_row = 0;             ///< after it counted twice in one row
  int two_slots = 0;           ///< after it counted once in each of two
  bool is_of_database = false; ///< the lock is one on the whole database, not on rows
};

/// Counts in a place of its own (see engine::Sandbox), rolls back and removes the place. Errors: permission_denied,
/// database_busy (a trial is running), ...
[[nodiscard]] Result<LocksHeld> show_locks(const Target& target);

/// A session that waits for others on a table of a counter.
struct Waiter {
  std::int64_t process = 0;              ///< its process id on the server
  std::vector<std::int64_t> blocked_by;  ///< process ids; 0: a prepared transaction
  std::string counter;
  std::string table;                     ///< of the counter, that it waits on
  std::string since;                     ///< "2026-01-31T10:15:30.123Z"; empty: it has begun to wait only now
  double seconds = 0;                    ///< that it has waited
  std::optional<std::string> statement;  ///< that waits; unset: this role may not see it
};

/// Looks at who waits, again and again over one connection that only reads.
class WaitersView {
 public:
  /// Errors: those of a connection.
  [[nodiscard]] static Result<WaitersView> open(const Target& target);
  WaitersView(WaitersView&&) noexcept;
  WaitersView& operator=(WaitersView&&) noexcept;
  ~WaitersView();

  /// Why this database has nothing to list, in a sentence; empty: it may have.
  [[nodiscard]] const std::string& why_none() const noexcept { return why_none_; }
  /// Who has waited longest comes first.
  [[nodiscard]] Result<std::vector<Waiter>> look();

 private:
  WaitersView() = default;
  std::string why_none_;
  std::string statement_;
  std::unique_ptr<engine::Console> console_;
};

}  // namespace splitcount::measure
