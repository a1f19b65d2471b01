#include <array>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/sqlite/connection.h>
#include <engine/rule_row.h>
#include <engine/sqlite/counter_sql.h>
#include <rule/key.h>
#include <rule/name.h>

namespace splitcount::engine::sqlite {

Result<int> SqliteConnection::schema_version() {
  const auto installed = number("schema_installed");
  if (!installed) return fail(installed.error());
  if (*installed == 0) return 0;
  const auto version = number("schema_version");
  if (!version) return fail(version.error());
  return static_cast<int>(*version);
}

Result<void> SqliteConnection::check_schema() {
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

Result<void> SqliteConnection::install() {
  const auto version = schema_version();
  if (!version) return fail(version.error());
  if (*version > schema_version_latest) return check_schema();
  if (*version == schema_version_latest) return {};
  // A user's encoding is theirs, and cannot be changed; in UTF-16 the limits on bytes would mean something else.
  const auto encoding = word("encoding");
  if (!encoding) return fail(encoding.error());
  if (*encoding != "UTF-8") {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("this database stores text as {}, and counters need one that stores UTF-8", *encoding));
  }
  if (*version == 0) {
    const std::array<std::string, 4> names{"splitcount_schema", "splitcount_counters", "splitcount_streams", "splitcount_copied"};
    if (auto free = check_nothing_in_the_way("splitcount's own objects", names); !free) return free;
  }
  for (const auto step : std::span(schema_steps).subspan(static_cast<std::size_t>(*version))) {
    if (auto done = run_script(database_, shared_sql(step)); !done) return fail(noted(std::move(done.error())));
  }
  return {};
}

Result<void> SqliteConnection::uninstall() {
  const auto left = number("counters_left");
  if (!left) return fail(explained(left.error(), nullptr));
  if (*left > 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} counters are left; drop them before the rest goes", *left));
  }
  if (auto done = run_script(database_, shared_sql("uninstall")); !done) return fail(noted(std::move(done.error())));
  return {};
}

Result<void> SqliteConnection::check_nothing_in_the_way(std::string_view what, std::span<const std::string> names) {
  auto statement = statements_.shared("object_in_the_way");
  if (!statement) return fail(noted(std::move(statement.error())));
  for (const auto& name : names) {
    Query query(*statement);
    query.bind(1, std::string_view(name));
    const auto row = query.next();
    if (!row) return fail(noted(row.error()));
    if (!*row) continue;
    return fail(ErrorCode::name_clash, fmt::format("{} need the name {}, and the database has {} {} already; choose "
                                                   "another name, or rename that one",
                                                   what, name, query.text(0), quoted(query.text(1))));
  }
  return {};
}

Result<void> SqliteConnection::create(std::string_view name, const Rule& rule) {
  if (auto checked = rule::check_counter_name(name); !checked) return checked;
  if (rule.key) {
    if (auto checked = rule::check_key_name(*rule.key); !checked) return checked;
  }
  auto stored = find(name);
  if (!stored) return fail(std::move(stored.error()));
  if (*stored) return fail(ErrorCode::name_clash, fmt::format("there is a counter {} already", quoted(name)));
  const CounterSql sql(name, rule);
  const auto what = fmt::format("the objects of counter {}", quoted(name));
  if (auto free = check_nothing_in_the_way(what, sql.object_names()); !free) return free;
  for (const auto& text : sql.definition()) {
    if (auto done = run_script(database_, text); !done) return fail(noted(std::move(done.error())));
  }
  return {};
}

Result<std::int64_t> SqliteConnection::create_keys(const StoredCounter& counter, std::span<const std::string> keys) {
  if (!counter.rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid, fmt::format("counter {} has no key, so key {} cannot be created",
                                                    quoted(counter.name), quoted(keys.front())));
  }
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (keys.empty()) return 0;
  auto exists = statements_.of(counter, "key_exists");
  if (!exists) return fail(explained(std::move(exists.error()), &counter));
  auto create = statements_.of(counter, "create_slots");
  if (!create) return fail(explained(std::move(create.error()), &counter));
  std::int64_t added = 0;
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
    Query look(*exists);
    const auto row = look.bind(1, std::string_view(key)).next();
    if (!row) return fail(noted(row.error()));
    if (look.number(0) == 0) ++added;
    if (auto done = Query(*create).bind(1, std::string_view(key)).run(); !done) {
      return fail(noted(std::move(done.error())));
    }
  }
  return added;
}

Result<void> SqliteConnection::check_objects(const StoredCounter& counter) {
  auto statement = statements_.shared("object_in_the_way");
  if (!statement) return fail(noted(std::move(statement.error())));
  std::vector<std::string> missing;
  for (const auto& name : CounterSql(counter.name, counter.rule).object_names()) {
    Query query(*statement);
    query.bind(1, std::string_view(name));
    const auto row = query.next();
    if (!row) return fail(noted(row.error()));
    if (!*row) missing.push_back(name);
  }
  return judge_objects(counter, missing);
}

Result<std::int64_t> SqliteConnection::mend(const StoredCounter& counter) {
  if (auto whole = check_objects(counter); !whole) return fail(std::move(whole.error()));
  if (!has_slots_at_once(counter.rule)) return 0;
  std::int64_t missing = 0;
  {
    auto statement = statements_.of(counter, "slots_missing");
    if (!statement) return fail(explained(std::move(statement.error()), &counter));
    Query query(*statement);
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), &counter));
    missing = query.number(0);
  }
  if (missing <= 0) return 0;
  auto made = run_script(database_, CounterSql(counter.name, counter.rule).text("create_slots"));
  if (!made) return fail(noted(std::move(made.error())));
  return missing;
}

Result<void> SqliteConnection::drop(const StoredCounter& counter) {
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return current;
  for (const auto& text : CounterSql(counter.name, counter.rule).removal()) {
    if (auto done = run_script(database_, text); !done) return fail(noted(std::move(done.error())));
  }
  return {};
}

}  // namespace splitcount::engine::sqlite
