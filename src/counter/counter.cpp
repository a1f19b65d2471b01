// Counter: adds on their own and within the caller's transaction, and reads.
#include <splitcount/database.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <counter/access.h>
#include <counter/transaction.h>
#include <counter/write.h>
#include <rule/key.h>

namespace splitcount {

using counter::Handle;
using counter::StoredRule;

namespace {

Deadline call_deadline() { return deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max)); }

Result<void> check_count(std::size_t items, std::string_view what) {
  if (items <= limits::call_items_max) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{} {} in one call are too many; at most {} are allowed",
                                                       grouped(static_cast<std::int64_t>(items)), what,
                                                       grouped(static_cast<std::int64_t>(limits::call_items_max))));
}

std::vector<Added> values_of(std::vector<Result<Added>>&& written) {
  std::vector<Added> added;
  added.reserve(written.size());
  for (const Result<Added>& one : written) added.push_back(*one);
  return added;
}

/// Every add can be sent again after an unknown commit, since its id settles what became of it.
bool all_settle_by_id(const Rule& rule, std::span<const Add> adds) {
  return rule.retries.once &&
         std::all_of(adds.begin(), adds.end(), [](const Add& add) { return !add.request_id.empty(); });
}

bool all_replays(const std::vector<Added>& added) {
  return std::all_of(added.begin(), added.end(), [](const Added& one) { return one.replay; });
}

Result<std::vector<Added>> add_on_its_own(Handle& handle, std::span<const Add> adds) {
  const Deadline deadline = call_deadline();
  auto checked = counter::check(handle, adds, deadline);
  if (!checked) return fail(std::move(checked.error()));
  std::vector<Added> added;
  const counter::TransactionOptions options{.deadline = deadline,
                                            .send_again = all_settle_by_id((*checked)->rule, adds)};
  auto done = counter::run_transaction(handle.store().pool(), options, [&](counter::Attempt& attempt) -> Result<void> {
    auto written = counter::write(handle, attempt.connection, adds, engine::Refusal::all, checked->get());
    if (!written) return fail(std::move(written.error()));
    std::vector<Added> now = values_of(std::move(*written));
    // All known after a try in doubt: that try was committed, and its answers are the right ones. Else none was.
    if (attempt.in_doubt && all_replays(now)) return {};
    attempt.in_doubt = false;
    added = std::move(now);
    return {};
  });
  if (!done) return fail(explained(handle.store(), handle.name(), std::move(done.error())));
  return added;
}

Result<std::vector<Added>> add_for_caller(Handle& handle, Caller caller, std::span<const Add> adds) {
  auto connection = counter::Access::borrow(caller);
  if (!connection) return fail(std::move(connection.error()));
  auto written =
      counter::write(handle, **connection, adds, engine::Refusal::all, nullptr, counter::Transaction::callers);
  if (!written) return fail(std::move(written.error()));
  return values_of(std::move(*written));
}

Result<Added> first_of(Result<std::vector<Added>>&& added) {
  if (!added) return fail(std::move(added.error()));
  return added->front();
}

/// A read that came back empty: another rule may say something else of what was never counted.
bool found_nothing(const Total& total) { return total.slots == 0; }
bool found_nothing(const std::vector<Total>& totals) {
  return std::any_of(totals.begin(), totals.end(), [](const Total& total) { return total.slots == 0; });
}
bool found_nothing(const std::vector<Slot>& slots) { return slots.empty(); }
bool found_nothing(std::int64_t) { return false; }

/// Where it fails or finds nothing and the rule turns out to have changed, or
/// where the connection broke while it lay idle, it runs once more.
template <class Read>
auto read_fresh(Handle& handle, const Read& read_once)
    -> decltype(read_once(std::declval<engine::Connection&>(), std::declval<const engine::StoredCounter&>())) {
  const Deadline deadline = call_deadline();
  StoredRule stored = handle.stored();
  for (bool again = false;; again = true) {
    auto lease = acquire_when_back(handle.store().pool(), deadline);
    if (!lease) return fail(std::move(lease.error()));
    (*lease)->set_wait(deadline);
    auto result = read_once(**lease, *stored);
    if (again || (result && !found_nothing(*result))) return result;
    if (!result && result.error().code == ErrorCode::connection_lost) continue;
    auto now = handle.reread(**lease);
    if (!now && now.error().code == ErrorCode::unknown_counter) return fail(std::move(now.error()));
    if (!now || (*now)->version == stored->version) return result;
    stored = std::move(*now);
  }
}

/// Runs a read on a connection of the pool.
template <class Read>
auto read(Handle& handle, const Read& read_once) {
  auto result = read_fresh(handle, read_once);
  if (!result) result.error() = explained(handle.store(), handle.name(), std::move(result.error()));
  return result;
}

/// What a read of a key says that has no rows: 0 where an add would create them.
Result<void> check_never_counted(const engine::StoredCounter& stored, std::string_view key) {
  if (stored.rule.missing == Missing::create) return {};
  if (key.empty()) {
    return fail(ErrorCode::key_missing, fmt::format("the counter {} has lost its slots; define it again", stored.name));
  }
  return fail(ErrorCode::key_missing, fmt::format("the counter {0} has no key {1}; splitcount define {0} KEY adds keys",
                                                  stored.name, quoted(key)));
}

Result<void> check_wanted_key(const engine::StoredCounter& stored, std::string_view key) {
  if (!key.empty() && !stored.rule.key) {
    return fail(ErrorCode::key_invalid,
                fmt::format("the counter {} has no key, so {} names nothing in it", stored.name, quoted(key)));
  }
  return {};
}

Total never_counted(std::string_view key) {
  Total total;
  if (!key.empty()) total.key = std::string(key);
  total.as_of = now_utc();
  return total;
}

Result<Total> read_total(engine::Connection& connection, const engine::StoredCounter& stored, std::string_view key) {
  if (auto right = check_wanted_key(stored, key); !right) return fail(std::move(right.error()));
  auto found = connection.total(stored, key.empty() ? std::nullopt : std::optional(key));
  if (!found) return fail(std::move(found.error()));
  Total total = *found ? std::move(**found) : never_counted(key);
  const bool sum_over_keys = key.empty() && stored.rule.key.has_value();
  if (total.slots == 0 && !sum_over_keys) {
    if (auto right = check_never_counted(stored, key); !right) return fail(std::move(right.error()));
  }
  return total;
}

/// Distinct keys, and for each key of the request where it stands among them.
struct DistinctKeys {
  std::vector<std::string> keys;
  std::vector<std::size_t> place;
};

DistinctKeys distinct(std::span<const std::string> keys) {
  DistinctKeys result;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const std::string& key : keys) {
    const auto [at, is_new] = known.try_emplace(key, result.keys.size());
    if (is_new) result.keys.push_back(key);
    result.place.push_back(at->second);
  }
  return result;
}

Result<std::vector<Total>> read_totals(engine::Connection& connection, const engine::StoredCounter& stored,
                                       const DistinctKeys& wanted) {
  if (auto right = check_wanted_key(stored, wanted.keys.front()); !right) return fail(std::move(right.error()));
  auto found = connection.totals(stored, wanted.keys);
  if (!found) return fail(std::move(found.error()));
  std::vector<Total> totals;
  totals.reserve(wanted.place.size());
  for (const std::size_t place : wanted.place) {
    const Total& total = (*found)[place];
    if (total.slots == 0) {
      if (auto right = check_never_counted(stored, wanted.keys[place]); !right) return fail(std::move(right.error()));
    }
    totals.push_back(total);
  }
  return totals;
}

Result<std::vector<Slot>> read_slots(engine::Connection& connection, const engine::StoredCounter& stored,
                                     std::string_view key) {
  if (auto right = check_wanted_key(stored, key); !right) return fail(std::move(right.error()));
  if (key.empty() && stored.rule.key) {
    return fail(ErrorCode::key_invalid,
                fmt::format("the counter {} has a key, {}; say of which one the slots are wanted", stored.name,
                            *stored.rule.key));
  }
  auto found = connection.slots(stored, key);
  if (found && found->empty()) {
    if (auto right = check_never_counted(stored, key); !right) return fail(std::move(right.error()));
  }
  return found;
}

}  // namespace

Counter::Counter(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

const std::string& Counter::name() const noexcept { return impl_->handle->name(); }
Rule Counter::rule() const { return impl_->handle->stored()->rule; }

Result<Added> Counter::add(const Add& add) { return first_of(add_on_its_own(*impl_->handle, std::span(&add, 1))); }

Result<std::vector<Added>> Counter::add(std::span<const Add> adds) {
  if (auto right = check_count(adds.size(), "adds"); !right) return fail(std::move(right.error()));
  if (adds.empty()) return std::vector<Added>();
  return add_on_its_own(*impl_->handle, adds);
}

Result<Added> Counter::add(Caller caller, const Add& add) {
  return first_of(add_for_caller(*impl_->handle, caller, std::span(&add, 1)));
}

Result<std::vector<Added>> Counter::add(Caller caller, std::span<const Add> adds) {
  if (auto right = check_count(adds.size(), "adds"); !right) return fail(std::move(right.error()));
  if (adds.empty()) return std::vector<Added>();
  return add_for_caller(*impl_->handle, caller, adds);
}

Result<Total> Counter::total(std::string_view key) const {
  if (!key.empty()) {
    if (auto right = rule::check_key(key); !right) return fail(std::move(right.error()));
  }
  return read(*impl_->handle, [key](engine::Connection& connection, const engine::StoredCounter& stored) {
    return read_total(connection, stored, key);
  });
}

Result<std::vector<Total>> Counter::totals(std::span<const std::string> keys) const {
  if (auto right = check_count(keys.size(), "keys"); !right) return fail(std::move(right.error()));
  for (const std::string& key : keys) {
    if (auto right = rule::check_key(key); !right) return fail(std::move(right.error()));
  }
  if (keys.empty()) return std::vector<Total>();
  const DistinctKeys wanted = distinct(keys);
  return read(*impl_->handle, [&wanted](engine::Connection& connection, const engine::StoredCounter& stored) {
    return read_totals(connection, stored, wanted);
  });
}

Result<std::vector<Total>> Counter::top(int n) const {
  if (n < 1 || n > limits::top_max) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the top {} cannot be given; 1 to {} can", n, grouped(limits::top_max)));
  }
  return read(*impl_->handle, [n](engine::Connection& connection, const engine::StoredCounter& stored) {
    return connection.top(stored, n);
  });
}

Result<std::vector<Slot>> Counter::slots(std::string_view key) const {
  if (!key.empty()) {
    if (auto right = rule::check_key(key); !right) return fail(std::move(right.error()));
  }
  return read(*impl_->handle, [key](engine::Connection& connection, const engine::StoredCounter& stored) {
    return read_slots(connection, stored, key);
  });
}

Result<std::int64_t> Counter::keys() const {
  return read(*impl_->handle, [](engine::Connection& connection, const engine::StoredCounter& stored) {
    return connection.keys(stored);
  });
}

}  // namespace splitcount
