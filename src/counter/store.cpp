#include <counter/store.h>

#include <vector>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <counter/transaction.h>

namespace splitcount::counter {

namespace {

/// One that was defined since it was looked for is found after all.
Result<StoredRule> find_nearest(engine::Connection& connection, std::string_view name) {
  std::vector<std::string> names;
  if (auto counters = connection.list()) {
    for (engine::StoredCounter& counter : *counters) {
      if (counter.name == name) return std::make_shared<const engine::StoredCounter>(std::move(counter));
      names.push_back(std::move(counter.name));
    }
  }
  const std::string_view meant = nearest(name, names);
  Error error{ErrorCode::unknown_counter, fmt::format("there is no counter {}", quoted(name))};
  error.message += meant.empty() ? std::string("; define it first: splitcount define NAME")
                                 : fmt::format("; did you mean {}?", quoted(meant));
  return fail(std::move(error));
}

}  // namespace

Result<StoredRule> look_up(engine::Connection& connection, std::string_view name) {
  auto version = connection.schema_version();
  if (!version) return fail(std::move(version.error()));
  if (*version == 0) {
    return fail(ErrorCode::unknown_counter,
                fmt::format("there is no counter {}: this database has no counters yet; define it first: "
                            "splitcount define NAME",
                            quoted(name)));
  }
  auto found = connection.find(name);
  if (!found) return fail(std::move(found.error()));
  if (!*found) return find_nearest(connection, name);
  return std::make_shared<const engine::StoredCounter>(std::move(**found));
}

Error explained(Store& store, std::string_view name, Error error) {
  if (error.code != ErrorCode::unknown_counter || error.outcome_unknown) return error;
  const Deadline deadline = deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max));
  auto lease = store.pool().acquire(deadline);
  if (!lease) return error;
  (*lease)->set_wait(deadline);
  auto stored = look_up(**lease, name);
  if (!stored) return stored.error().code == ErrorCode::unknown_counter ? std::move(stored.error()) : error;
  auto whole = (*lease)->check_objects(**stored);
  return !whole && whole.error().code == ErrorCode::database_corrupt ? std::move(whole.error()) : error;
}

StoredRule Handle::stored() const {
  Lock lock(mutex_);
  return stored_;
}

void Handle::set_stored(StoredRule stored) {
  Lock lock(mutex_);
  stored_.swap(stored);
}

Result<StoredRule> Handle::reread(engine::Connection& connection) {
  auto stored = look_up(connection, name_);
  if (stored) set_stored(*stored);
  return stored;
}

Result<StoredRule> Handle::reread(Deadline deadline) {
  return read_when_back(store_->pool(), deadline, [this](engine::Connection& connection) { return reread(connection); });
}

std::shared_ptr<Handle> Store::handle(StoredRule stored) {
  Lock lock(mutex_);
  std::erase_if(handles_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Handle>& place = handles_[stored->name];
  if (auto known = place.lock()) {
    known->set_stored(std::move(stored));
    return known;
  }
  auto made = std::make_shared<Handle>(shared_from_this(), std::move(stored));
  place = made;
  return made;
}

}  // namespace splitcount::counter
