// What the copies of a Database share (Store) and what the copies of a Counter share (Handle).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <splitcount/error.h>

#include <base/thread_annotations.h>
#include <counter/pool.h>
#include <engine/engine.h>

namespace splitcount::counter {

using StoredRule = std::shared_ptr<const engine::StoredCounter>;

/// The counter as the database has it now. Errors: unknown_counter, which names the nearest one; schema_too_new.
[[nodiscard]] Result<StoredRule> look_up(engine::Connection& connection, std::string_view name);

class Store;

/// What became of the counter where it is said to be unknown: dropped, or there without some of its objects; else the
/// same error. Outside of every transaction.
[[nodiscard]] Error explained(Store& store, std::string_view name, Error error);

/// One counter of a Store: its name and its rule as last read. Safe to use from many threads.
class Handle {
 public:
  Handle(std::shared_ptr<Store> store, StoredRule stored) noexcept
      : store_(std::move(store)), name_(stored->name), stored_(std::move(stored)) {}

  [[nodiscard]] Store& store() const noexcept { return *store_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] StoredRule stored() const EXCLUDES(mutex_);
  void set_stored(StoredRule stored) EXCLUDES(mutex_);

  /// look_up, kept for all copies of this counter.
  [[nodiscard]] Result<StoredRule> reread(engine::Connection& connection);
  /// The same on a connection of the pool.
  [[nodiscard]] Result<StoredRule> reread(Deadline deadline);

 private:
  const std::shared_ptr<Store> store_;
  const std::string name_;
  mutable Mutex mutex_;
  StoredRule stored_ GUARDED_BY(mutex_);
};

/// One database: its engine, its pool, and the counters that somebody holds.
class Store : public std::enable_shared_from_this<Store> {
 public:
  explicit Store(std::shared_ptr<engine::Engine> engine) noexcept : engine_(std::move(engine)), pool_(engine_) {}

  [[nodiscard]] engine::Engine& engine() const noexcept { return *engine_; }
  [[nodiscard]] const rule::EngineTraits& traits() const noexcept { return engine_->traits(); }
  [[nodiscard]] Pool& pool() noexcept { return pool_; }

  /// The one handle of that name, which now has this rule.
  [[nodiscard]] std::shared_ptr<Handle> handle(StoredRule stored) EXCLUDES(mutex_);

 private:
  const std::shared_ptr<engine::Engine> engine_;
  Pool pool_;
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<Handle>, std::less<>> handles_ GUARDED_BY(mutex_);
};

}  // namespace splitcount::counter
