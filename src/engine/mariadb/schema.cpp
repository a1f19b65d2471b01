// MariaDB commits after every CREATE and DROP. So a definition writes its rule first, as one that is not ready, and makes it
// ready in the same transaction as the first slots; and a drop the other way round. What a crash leaves between is a rule
// that is not ready, which nobody sees and the next definition clears away.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <base/clock.h>
#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/quote.h>
#include <engine/rule_row.h>
#include <rule/key.h>
#include <rule/name.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr int version_min_major = 10;
constexpr int version_min_minor = 6;
constexpr std::size_t keys_per_statement_max = 1'000;

std::string list_of(std::span<const std::string> texts) {
  std::string list;
  for (const auto& text : texts) list += fmt::format("{}{}", list.empty() ? "" : ", ", quote_bytes(text));
  return list;
}

}  // namespace

Result<int> MariadbConnection::schema_version() {
  const auto tables = run(statement(dialect, "schema_tables"));
  if (!tables) return fail(tables.error());
  if (tables->number(0, 0) < 2) return 0;
  const auto version = run(statement(dialect, "schema_version"));
  if (!version) return fail(version.error());
  return version->rows() == 0 ? 0 : static_cast<int>(version->number(0, 0));
}

Result<void> MariadbConnection::check_schema() {
  const auto version = schema_version();
  if (!version) return fail(version.error());
  if (*version == 0) {
    return fail(ErrorCode::not_installed, "this database has no counters yet; `splitcount define` makes the first one");
  }
  if (*version > schema_version_latest) {
    return fail(ErrorCode::schema_too_new,
                fmt::format("a newer splitcount wrote this database: its schema has version {}, and this one knows {}; "
                            "use the newer one",
                            *version, schema_version_latest));
  }
  return {};
}

/// Where nothing is installed yet: can it be?
Result<void> MariadbConnection::check_server() {
  const auto server = run(statement(dialect, "server"));
  if (!server) return fail(server.error());
  const auto version = server->text(0, 1);
  if (version.find("MariaDB") == std::string_view::npos) {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("counters need MariaDB {}.{} or newer, and this server says that it is {}", version_min_major,
                            version_min_minor, quoted(version)));
  }
  const auto number = mysql_get_server_version(handle_);  // 101119 for 10.11.19
  constexpr unsigned long least = version_min_major * 10'000UL + version_min_minor * 100UL;
  if (number < least) {
    return fail(ErrorCode::not_on_this_engine, fmt::format("counters need MariaDB {}.{} or newer, and this server is {}",
                                                           version_min_major, version_min_minor, version));
  }
  return {};
}

Result<void> MariadbConnection::lock_definitions() {
  if (is_defining_) return {};
  const auto left = std::max<std::int64_t>(time_left(deadline_).count() / 1'000, 1);
  const auto locked = run(list_sql("lock_definitions", "", {}, "wait_s", fmt::format("{}", std::min<std::int64_t>(left, 1'000'000))));
  if (!locked) return fail(locked.error());
  if (!locked->truth(0, 0)) {
    Error error;
    error.code = ErrorCode::database_busy;
    error.retryable = true;
    error.message = "another session is defining or dropping a counter; try again when it is done";
    return fail(std::move(error));
  }
  is_defining_ = true;
  return {};
}

void MariadbConnection::unlock_definitions() noexcept {
  if (!is_defining_) return;
  is_defining_ = false;
  if (!healthy_ || !run(statement(dialect, "unlock_definitions"))) healthy_ = false;  // it goes with the session
}

Result<void> MariadbConnection::install() {
  if (auto locked = lock_definitions(); !locked) return locked;
  const auto version = schema_version();
  if (!version) return fail(version.error());
  if (*version > schema_version_latest) return check_schema();
  if (*version == schema_version_latest) return {};
  if (*version == 0) {
    if (auto able = check_server(); !able) return able;
    const std::vector<std::string> names(shared_object_names.begin(), shared_object_names.end());
    if (auto free = check_nothing_in_the_way("splitcount's own objects", names); !free) return free;
  }
  for (const auto step : std::span(schema_steps).subspan(static_cast<std::size_t>(*version))) {
    if (auto done = run(shared_sql(step)); !done) return fail(std::move(done.error()));
  }
  return run_named("go_on");
}

Result<void> MariadbConnection::uninstall() {
  if (auto locked = lock_definitions(); !locked) return locked;
  const auto left = run_shared("counters_left");
  if (!left) return fail(left.error());
  if (left->number(0, 0) > 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} counters are left; drop them before the rest goes", left->number(0, 0)));
  }
  auto done = run(shared_sql("uninstall"));
  if (!done) return fail(std::move(done.error()));
  return run_named("go_on");
}

Result<void> MariadbConnection::check_nothing_in_the_way(std::string_view what, std::span<const std::string> names) {
  const auto found = run(list_sql("object_in_the_way", "", {}, "names", list_of(names)));
  if (!found) return fail(found.error());
  if (found->rows() == 0) return {};
  return fail(ErrorCode::name_clash,
              fmt::format("{} need the name {}, and this database has a {} of that name already; choose another name, or "
                          "rename that one",
                          what, quoted(found->text(0, 1)), found->text(0, 0)));
}

Result<void> MariadbConnection::check_objects(const StoredCounter& counter) {
  const auto names = CounterSql(counter.name, counter.rule).object_names();
  const auto found = run(list_sql("objects_there", "", {}, "names", list_of(names)));
  if (!found) return fail(found.error());
  std::vector<std::string> missing;
  for (const auto& name : names) {
    bool is_there = false;
    for (int row = 0; row < found->rows(); ++row) is_there = is_there || found->text(row, 0) == name;
    if (!is_there) missing.push_back(name);
  }
  return judge_objects(counter, missing);
}

Result<std::int64_t> MariadbConnection::mend(const StoredCounter& counter) {
  if (auto whole = check_objects(counter); !whole) return fail(std::move(whole.error()));
  if (!has_slots_at_once(counter.rule)) return 0;
  const auto missing = run(counter_sql("slots_missing", counter.name, counter.rule));
  if (!missing) return fail(missing.error());
  if (missing->number(0, 0) <= 0) return 0;
  const auto made = run(CounterSql(counter.name, counter.rule).create_slots({}));
  if (!made) return fail(made.error());
  return missing->number(0, 0);
}

Result<void> MariadbConnection::clear_away(std::string_view counter) {
  Rule rule;  // whatever it was: every name that a counter can take
  const auto tables = fmt::format("{}, {}, {}", quote_name(fmt::format("{}_slots", counter)),
                                  quote_name(fmt::format("{}_requests", counter)),
                                  quote_name(fmt::format("{}_deltas", counter)));
  if (auto done = run(list_sql("drop_tables", counter, rule, "tables", tables)); !done) return fail(done.error());
  if (auto done = run(counter_sql("drop_routines", counter, rule)); !done) return fail(done.error());
  if (auto done = run(counter_sql("drop_rule", counter, rule)); !done) return fail(done.error());
  return {};
}

Result<void> MariadbConnection::create(std::string_view name, const Rule& rule) {
  if (auto checked = rule::check_counter_name(name); !checked) return checked;
  if (rule.key) {
    if (auto checked = rule::check_key_name(*rule.key); !checked) return checked;
  }
  if (auto locked = lock_definitions(); !locked) return locked;
  auto stored = find(name);
  if (!stored) return fail(std::move(stored.error()));
  if (*stored) return fail(ErrorCode::name_clash, fmt::format("there is a counter {} already", quoted(name)));
  const auto leftover = run(counter_sql("leftover", name, rule));
  if (!leftover) return fail(leftover.error());
  if (leftover->truth(0, 0)) {
    if (auto cleared = clear_away(name); !cleared) return cleared;
  }
  const CounterSql sql(name, rule);
  const auto what = fmt::format("the objects of counter {}", quoted(name));
  if (auto free = check_nothing_in_the_way(what, sql.object_names()); !free) return free;
  if (auto begun = run(sql.text("rule_begun")); !begun) return fail(begun.error());
  made_ = std::string(name);
  if (auto made = run_each(sql.objects()); !made) return made;
  if (auto again = run_named("go_on"); !again) return again;
  if (auto ready = run(counter_sql("rule_ready", name, rule)); !ready) return fail(ready.error());
  if (!has_slots_at_once(rule)) return {};
  if (auto slots = run(sql.create_slots({})); !slots) return fail(slots.error());
  return {};
}

Result<std::int64_t> MariadbConnection::create_keys(const StoredCounter& counter, std::span<const std::string> keys) {
  if (!counter.rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid, fmt::format("counter {} has no key, so key {} cannot be created",
                                                    quoted(counter.name), quoted(keys.front())));
  }
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
  }
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  std::vector<std::string> wanted(keys.begin(), keys.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const CounterSql sql(counter.name, counter.rule);
  std::int64_t added = 0;
  for (std::size_t first = 0; first < wanted.size(); first += keys_per_statement_max) {
    const auto part = std::span(wanted).subspan(first, std::min(keys_per_statement_max, wanted.size() - first));
    const auto there = run(list_sql("keys_there", counter.name, counter.rule, "keys", list_of(part)));
    if (!there) return fail(there.error());
    if (auto made = run(sql.create_slots(part)); !made) return fail(made.error());
    added += static_cast<std::int64_t>(part.size()) - there->number(0, 0);
  }
  return added;
}

Result<void> MariadbConnection::drop(const StoredCounter& counter) {
  if (auto locked = lock_definitions(); !locked) return locked;
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return current;
  if (auto unready = run(counter_sql("rule_unready", counter.name, counter.rule)); !unready) return fail(unready.error());
  if (auto cleared = clear_away(counter.name); !cleared) {
    // Somebody uses its tables, and none of them has gone: it goes on counting.
    if (cleared.error().code == ErrorCode::database_busy) (void)run(counter_sql("rule_ready", counter.name, counter.rule));
    return cleared;
  }
  return run_named("go_on");
}

}  // namespace splitcount::engine::mariadb
