// Database: define, find, list, drop.
#include <splitcount/database.h>

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <counter/access.h>
#include <counter/transaction.h>
#include <engine/engine.h>
#include <engine/rule_row.h>
#include <rule/key.h>
#include <rule/name.h>
#include <rule/rule.h>

namespace splitcount {

using counter::Access;
using counter::Attempt;
using counter::Store;
using counter::StoredRule;

namespace {

Deadline call_deadline() { return deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max)); }

Result<void> check_keys(std::span<const std::string> keys) {
  if (keys.size() > limits::call_items_max) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} keys in one call are too many; at most {} are allowed", keys.size(),
                            grouped(static_cast<std::int64_t>(limits::call_items_max))));
  }
  for (const std::string& key : keys) {
    if (auto right = rule::check_key(key); !right) return right;
  }
  return {};
}

Result<void> check_takes_keys(std::string_view name, const Rule& rule, std::span<const std::string> keys) {
  if (keys.empty() || rule.key) return {};
  return fail(ErrorCode::key_invalid, fmt::format("the counter {} has no key and takes none, so {} has no place in it; "
                                                  "--key COLUMN makes a counter by key",
                                                  name, quoted(keys.front())));
}

/// The rule of a counter that is new. Everything is checked that can be without a database.
Result<Rule> rule_of_new(std::string_view name, const RuleOptions& options, std::span<const std::string> keys,
                         const rule::EngineTraits& traits) {
  Rule rule = rule::complete(options, traits);
  if (auto right = rule::check(rule, traits); !right) return fail(std::move(right.error()));
  if (auto right = check_takes_keys(name, rule, keys); !right) return fail(std::move(right.error()));
  return rule;
}

/// What a newcomer had better know of a rule that was just created.
std::vector<std::string> advice_on(const Rule& rule, const rule::EngineTraits& traits) {
  std::vector<std::string> advice;
  if (rule.pick == Pick::value && !rule::is_prime(rule.slots) && rule.slots > 1) {
    advice.push_back(
        fmt::format("{} slots are no prime number: values with a stride that shares a factor with {} would leave "
                    "slots unused; {} slots spread them evenly",
                    rule.slots, rule.slots, rule::primes_near(rule.slots)));
  }
  if (rule.layout == Layout::journal) {
    advice.push_back(
        "a journal wants `splitcount maintain` now and then, say every minute from a timer: it moves what adds have "
        "appended into slots");
  }
  if (traits.one_writer && rule.slots > 1) {
    advice.push_back(
        fmt::format("{} has one writer at a time, so {} slots are no faster than one there; many adds in one "
                    "transaction are",
                    traits.name, rule.slots));
  }
  return advice;
}

Result<void> check_same_rule(const engine::StoredCounter& stored, const RuleOptions& options) {
  const Rule wanted = rule::overlay(options, stored.rule);
  if (wanted == stored.rule) return {};
  return fail(
      ErrorCode::rule_differs,
      fmt::format("the counter {} exists with another rule ({}); leave those options out to keep it as it is, or "
                  "choose another name",
                  stored.name, rule::difference(stored.rule, wanted)));
}

/// One definition on its way through a transaction.
struct Definition {
  std::string_view name;
  const RuleOptions& options;
  std::span<const std::string> keys;
  const Result<Rule>& rule_if_new;
  const rule::EngineTraits& traits;
};

Result<StoredRule> create(engine::Connection& connection, const Definition& definition, Defined& defined) {
  if (!definition.rule_if_new) return fail(definition.rule_if_new.error());
  if (auto made = connection.create(definition.name, *definition.rule_if_new); !made)
    return fail(std::move(made.error()));
  defined.created = true;
  defined.advice = advice_on(*definition.rule_if_new, definition.traits);
  return counter::look_up(connection, definition.name);
}

/// Inside a transaction: finds the counter with the same rule, or creates it.
Result<StoredRule> find_or_create(engine::Connection& connection, const Definition& definition, Defined& defined) {
  auto version = connection.schema_version();
  if (!version) return fail(std::move(version.error()));
  if (*version == 0 && !definition.rule_if_new) return fail(definition.rule_if_new.error());
  if (auto installed = connection.install(); !installed) return fail(std::move(installed.error()));
  auto found = connection.find(definition.name);
  if (!found) return fail(std::move(found.error()));
  if (!*found) return create(connection, definition, defined);
  if (auto open = engine::judge_open(**found); !open) return fail(std::move(open.error()));
  if (auto same = check_same_rule(**found, definition.options); !same) return fail(std::move(same.error()));
  if (auto right = check_takes_keys(definition.name, (*found)->rule, definition.keys); !right)
    return fail(std::move(right.error()));
  auto mended = connection.mend(**found);
  if (!mended) return fail(std::move(mended.error()));
  defined.slots_restored = *mended;
  return std::make_shared<const engine::StoredCounter>(std::move(**found));
}

Result<StoredRule> define_inside(engine::Connection& connection, const Definition& definition, Defined& defined) {
  defined = Defined{};
  auto stored = find_or_create(connection, definition, defined);
  if (!stored || definition.keys.empty()) return stored;
  auto added = connection.create_keys(**stored, definition.keys);
  if (!added) return fail(std::move(added.error()));
  defined.keys_added = *added;
  return stored;
}

/// Every counter and every object of ours, inside a transaction.
Result<void> remove_all(engine::Connection& connection) {
  auto counters = connection.list();
  if (!counters) return fail(std::move(counters.error()));
  for (const engine::StoredCounter& counter : *counters) {
    if (auto dropped = connection.drop(counter); !dropped) return dropped;
  }
  return connection.uninstall();
}

/// The stored counters; none where nothing is installed.
Result<std::vector<engine::StoredCounter>> stored_counters(engine::Connection& connection) {
  auto version = connection.schema_version();
  if (!version) return fail(std::move(version.error()));
  if (*version == 0) return std::vector<engine::StoredCounter>();
  return connection.list();
}

Result<Status> read_status(engine::Connection& connection) {
  auto status = connection.status();
  if (!status) return status;
  auto counters = stored_counters(connection);
  if (!counters) return fail(std::move(counters.error()));
  status->counters = static_cast<std::int64_t>(counters->size());
  for (const engine::StoredCounter& counter : *counters) {
    if (counter.moved_to) status->closed.push_back(fmt::format("{} has moved to {}", counter.name, *counter.moved_to));
    auto whole = connection.check_objects(counter);
    if (!whole && whole.error().code != ErrorCode::database_corrupt) return fail(std::move(whole.error()));
    if (!whole) status->warnings.push_back(std::move(whole.error().message));
  }
  return status;
}

}  // namespace

Database::Database(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<Database> Database::open(std::string_view dsn) {
  auto engine = engine::open(dsn);
  if (!engine) return fail(std::move(engine.error()));
  return Access::database(std::move(*engine));
}

Result<Counter> Database::define(std::string_view name, const RuleOptions& options, std::span<const std::string> keys,
                                 Defined* what) {
  if (auto right = rule::check_counter_name(name); !right) return fail(std::move(right.error()));
  if (auto right = check_keys(keys); !right) return fail(std::move(right.error()));
  Store& store = *impl_->store;
  const Result<Rule> rule_if_new = rule_of_new(name, options, keys, store.traits());
  // Options that make no rule by themselves may still be right for a counter that exists; a file that is not there
  // must not come into being through them.
  if (!rule_if_new && !store.pool().acquire(call_deadline())) return fail(rule_if_new.error());

  Defined defined;
  StoredRule stored;
  const Definition definition{name, options, keys, rule_if_new, store.traits()};
  const counter::TransactionOptions how{
      .deadline = call_deadline(), .create = rule_if_new.has_value(), .send_again = true};
  auto done = counter::run_transaction(store.pool(), how, [&](Attempt& attempt) -> Result<void> {
    const Defined before = std::exchange(defined, Defined{});
    auto now = define_inside(attempt.connection, definition, defined);
    if (!now) return fail(std::move(now.error()));
    // Found unchanged after a try in doubt: that try did it.
    if (attempt.in_doubt && !defined.created && defined.keys_added == 0 && defined.slots_restored == 0) defined = before;
    stored = std::move(*now);
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  if (what != nullptr) *what = std::move(defined);
  return Access::counter(store.handle(std::move(stored)));
}

Result<Counter> Database::counter(std::string_view name) const {
  auto stored = counter::read_when_back(impl_->store->pool(), call_deadline(), [name](engine::Connection& connection) {
    return counter::look_up(connection, name);
  });
  if (!stored) return fail(std::move(stored.error()));
  return Access::counter(impl_->store->handle(std::move(*stored)));
}

Result<std::vector<CounterInfo>> Database::list() const {
  auto counters = counter::read_when_back(impl_->store->pool(), call_deadline(), stored_counters);
  if (!counters) return fail(std::move(counters.error()));
  std::vector<CounterInfo> infos;
  for (engine::StoredCounter& counter : *counters) {
    infos.push_back({std::move(counter.name), counter.version, std::move(counter.rule), counter.created_at,
                     std::move(counter.moved_to)});
  }
  return infos;
}

Result<void> Database::drop(std::string_view name) {
  const counter::TransactionOptions how{.deadline = call_deadline()};
  return counter::run_transaction(impl_->store->pool(), how, [name](Attempt& attempt) -> Result<void> {
    auto stored = counter::look_up(attempt.connection, name);
    if (!stored) return fail(std::move(stored.error()));
    return attempt.connection.drop(**stored);
  });
}

Result<void> Database::uninstall() {
  const counter::TransactionOptions how{.deadline = call_deadline(), .send_again = true};
  return counter::run_transaction(impl_->store->pool(), how, [](Attempt& attempt) -> Result<void> {
    auto version = attempt.connection.schema_version();
    if (!version) return fail(std::move(version.error()));
    if (*version > 0) return remove_all(attempt.connection);
    if (attempt.in_doubt) return {};  // that try was committed
    return fail(ErrorCode::not_installed, "this database has no counters, so there is nothing to remove");
  });
}

Result<Status> Database::status() const {
  return counter::read_when_back(impl_->store->pool(), call_deadline(), read_status);
}

Result<std::string> Database::script(std::string_view dialect, std::string_view name, const RuleOptions& options,
                                     std::span<const std::string> keys) {
  const rule::EngineTraits* traits = engine::traits_of(dialect);
  if (traits == nullptr) {
    return fail(ErrorCode::invalid_argument, fmt::format("there is no dialect {}; sqlite, postgresql and mariadb are", quoted(dialect)));
  }
  if (auto right = rule::check_counter_name(name); !right) return fail(std::move(right.error()));
  if (auto right = check_keys(keys); !right) return fail(std::move(right.error()));
  auto rule = rule_of_new(name, options, keys, *traits);
  if (!rule) return fail(std::move(rule.error()));
  return engine::script(dialect, name, *rule, keys);
}

}  // namespace splitcount
