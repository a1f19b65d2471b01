// A bounded pool of connections to one database.
#pragma once

#include <memory>
#include <vector>

#include <splitcount/error.h>

#include <base/thread_annotations.h>
#include <engine/engine.h>

namespace splitcount::counter {

class Pool;

/// A connection on loan. It goes back when the lease ends, and is closed instead where it is no longer healthy.
class Lease {
 public:
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

  [[nodiscard]] engine::Connection& operator*() const noexcept { return *connection_; }
  [[nodiscard]] engine::Connection* operator->() const noexcept { return connection_.get(); }

 private:
  friend class Pool;
  Lease(Pool& pool, std::unique_ptr<engine::Connection> connection) noexcept
      : pool_(&pool), connection_(std::move(connection)) {}
  Pool* pool_;
  std::unique_ptr<engine::Connection> connection_;  ///< empty once moved from
};

/// At most limits::connections_max connections, made when they are needed; at most limits::connections_idle_max are
/// kept when nobody uses them. Safe to use from many threads. It outlives its leases.
class Pool {
 public:
  explicit Pool(std::shared_ptr<engine::Engine> engine) noexcept : engine_(std::move(engine)) {}

  /// Waits for a free connection until the deadline. `create`: a database file may be created.
  /// Errors: database_busy where all connections stay in use, and what the engine says on connecting.
  [[nodiscard]] Result<Lease> acquire(Deadline deadline, bool create = false) EXCLUDES(mutex_);
  /// A connection has been made before: the database is, or was, there.
  [[nodiscard]] bool was_connected() const EXCLUDES(mutex_);

 private:
  friend class Lease;
  [[nodiscard]] Result<std::unique_ptr<engine::Connection>> take_idle_or_place(Deadline deadline) EXCLUDES(mutex_);
  void give_back(std::unique_ptr<engine::Connection> connection) noexcept EXCLUDES(mutex_);

  const std::shared_ptr<engine::Engine> engine_;
  mutable Mutex mutex_;
  Condition returned_;
  std::vector<std::unique_ptr<engine::Connection>> idle_ GUARDED_BY(mutex_);  ///< the last used one is at the back
  int open_ GUARDED_BY(mutex_) = 0;                                           ///< on loan, idle, or being made
  bool was_connected_ GUARDED_BY(mutex_) = false;
};

}  // namespace splitcount::counter
