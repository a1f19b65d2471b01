#include <counter/pool.h>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>

namespace splitcount::counter {

Lease::~Lease() {
  if (connection_) pool_->give_back(std::move(connection_));
}

bool Pool::was_connected() const {
  Lock lock(mutex_);
  return was_connected_;
}

/// An idle connection, or nothing where the caller may make a new one (its place is taken already).
Result<std::unique_ptr<engine::Connection>> Pool::take_idle_or_place(Deadline deadline) {
  Lock lock(mutex_);
  while (idle_.empty() && open_ >= limits::connections_max) {
    if (std::chrono::steady_clock::now() >= deadline) {
      Error error{ErrorCode::database_busy, fmt::format("all {} connections to {} stayed in use until the deadline",
                                                        limits::connections_max, engine_->display_name())};
      error.retryable = true;
      return fail(std::move(error));
    }
    returned_.wait_until(mutex_, deadline);
  }
  if (idle_.empty()) {
    ++open_;
    return std::unique_ptr<engine::Connection>();
  }
  std::unique_ptr<engine::Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Result<Lease> Pool::acquire(Deadline deadline, bool create) {
  auto taken = take_idle_or_place(deadline);
  if (!taken) return fail(std::move(taken.error()));
  if (*taken && !create && (*taken)->healthy()) return Lease(*this, std::move(*taken));
  // It broke while it lay idle, or was made for a database that was not to be created and would not prepare a new one.
  taken->reset();
  auto made = engine_->connect(create, deadline);  // outside the lock: it may take long
  if (!made) {
    give_back(nullptr);
    return fail(std::move(made.error()));
  }
  Lock lock(mutex_);
  was_connected_ = true;
  return Lease(*this, std::move(*made));
}

void Pool::give_back(std::unique_ptr<engine::Connection> connection) noexcept {
  {
    Lock lock(mutex_);
    if (connection && connection->healthy() && idle_.size() < limits::connections_idle_max) {
      idle_.push_back(std::move(connection));
    } else {
      --open_;
    }
  }
  returned_.notify_one();
  // What was not kept is closed here, outside the lock.
}

}  // namespace splitcount::counter
