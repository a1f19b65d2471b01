#include <fmt/format.h>

#include <base/text.h>
#include <engine/postgresql/connection.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/quote.h>
#include <engine/rule_row.h>
#include <rule/key.h>
#include <rule/name.h>

namespace splitcount::engine::postgresql {
namespace {

constexpr std::int64_t server_version_min = 150'000;

}  // namespace

/// The search_path says which schema's counters are meant. One that shows none while others are there was changed, as
/// far as anybody can tell: counters of the same names in a second place would part the counts.
Result<int> PostgresqlConnection::schema_version() {
  const auto in_use = run(shared_sql("schema_in_use", {}));
  if (!in_use) return fail(in_use.error());
  schema_ = in_use->rows() == 0 ? std::string() : std::string(in_use->text(0, 0));
  if (schema_.empty()) {
    const auto elsewhere = run(shared_sql("schema_elsewhere", {}));
    if (!elsewhere) return fail(elsewhere.error());
    if (elsewhere->rows() == 0) return 0;
    return fail(ErrorCode::not_installed,
                fmt::format("the search_path shows no counters, but the schema {0} has some; put {0} into the search_path, or, "
                            "for counters in a second schema, run the script of `splitcount sql define` there first",
                            elsewhere->text(0, 0)));
  }
  const auto version = run(shared_sql("schema_version", schema_));
  if (!version) return fail(version.error());
  return version->rows() == 0 ? 0 : static_cast<int>(version->number(0, 0));
}

Result<void> PostgresqlConnection::find_schema() {
  if (!schema_.empty()) return {};
  return check_schema();
}

Result<void> PostgresqlConnection::check_schema() {
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

/// Where nothing is installed yet: can it be? Finds the schema that new objects go into.
Result<void> PostgresqlConnection::check_server() {
  const auto server = run(std::string(statement(dialect, "schema_for_new")));
  if (!server) return fail(server.error());
  if (server->number(0, 2) < server_version_min) {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("counters need PostgreSQL 15 or newer, and this server is {}", server->number(0, 2) / 10'000));
  }
  if (server->text(0, 1) != "UTF8") {
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("this database stores text as {}, and counters need one that stores UTF8",
                            server->text(0, 1)));
  }
  if (server->is_null(0, 0)) {
    return fail(ErrorCode::permission_denied,
                "the search_path names no schema that is there, so there is no place for new objects; create one or "
                "set the search_path to it");
  }
  schema_ = std::string(server->text(0, 0));
  return {};
}

Result<void> PostgresqlConnection::install() {
  if (auto locked = run_named("lock_definitions"); !locked) return locked;
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
    if (auto done = run(shared_sql(step, schema_)); !done) return fail(std::move(done.error()));
  }
  return {};
}

Result<void> PostgresqlConnection::uninstall() {
  const auto left = run_shared("counters_left");
  if (!left) return fail(left.error());
  if (left->number(0, 0) > 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} counters are left; drop them before the rest goes", left->number(0, 0)));
  }
  auto done = run(shared_sql("uninstall", schema_));
  schema_.clear();
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<void> PostgresqlConnection::check_nothing_in_the_way(std::string_view what,
                                                            std::span<const std::string> names) {
  Parameters values;
  values.array(array_of(names)).text(schema_);
  const auto found = run(std::string(statement(dialect, "object_in_the_way")), values);
  if (!found) return fail(found.error());
  if (found->rows() == 0) return {};
  return fail(ErrorCode::name_clash,
              fmt::format("{} need the name {}, and the schema {} has a {} of that name already; choose another name, or "
                          "rename that one",
                          what, quoted(found->text(0, 1)), schema_, found->text(0, 0)));
}

/// A counter's functions run with its owner's rights, so without these the first add would fail and not the definition.
Result<void> PostgresqlConnection::check_rights_of_owner(std::string_view name) {
  const auto missing = run_shared("rights_missing");
  if (!missing) return fail(missing.error());
  if (missing->rows() == 0) return {};
  return fail(ErrorCode::permission_denied,
              fmt::format("the counter {0} would run with the rights of {1}, which lacks GRANT {2} TO {1}; let the owner of "
                          "the other counters define it, or grant that",
                          quoted(name), missing->text(0, 1), missing->text(0, 0)));
}

Result<void> PostgresqlConnection::check_objects(const StoredCounter& counter) {
  Parameters values;
  values.array(array_of(CounterSql(counter.name, counter.rule, counter.schema).object_names())).text(counter.schema);
  const auto missing = run(std::string(statement(dialect, "objects_missing")), values);
  if (!missing) return fail(missing.error());
  std::vector<std::string> names;
  for (int row = 0; row < missing->rows(); ++row) names.emplace_back(missing->text(row, 0));
  return judge_objects(counter, names);
}

Result<std::int64_t> PostgresqlConnection::mend(const StoredCounter& counter) {
  if (auto whole = check_objects(counter); !whole) return fail(std::move(whole.error()));
  if (!has_slots_at_once(counter.rule)) return 0;
  const auto missing = run(counter_sql("slots_missing", counter.name, counter.rule, counter.schema));
  if (!missing) return fail(missing.error());
  if (missing->number(0, 0) <= 0) return 0;
  const auto made = run(CounterSql(counter.name, counter.rule, counter.schema).text("create_slots"));
  if (!made) return fail(made.error());
  return missing->number(0, 0);
}

Result<void> PostgresqlConnection::create(std::string_view name, const Rule& rule) {
  if (auto checked = rule::check_counter_name(name); !checked) return checked;
  if (rule.key) {
    if (auto checked = rule::check_key_name(*rule.key); !checked) return checked;
  }
  auto stored = find(name);
  if (!stored) return fail(std::move(stored.error()));
  if (*stored) return fail(ErrorCode::name_clash, fmt::format("there is a counter {} already", quoted(name)));
  if (auto able = check_rights_of_owner(name); !able) return able;
  const CounterSql sql(name, rule, schema_);
  const auto what = fmt::format("the objects of counter {}", quoted(name));
  if (auto free = check_nothing_in_the_way(what, sql.object_names()); !free) return free;
  for (const auto& text : sql.definition()) {
    if (auto done = run(text); !done) return fail(std::move(done.error()));
  }
  return {};
}

Result<std::int64_t> PostgresqlConnection::create_keys(const StoredCounter& counter,
                                                       std::span<const std::string> keys) {
  if (!counter.rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid, fmt::format("counter {} has no key, so key {} cannot be created",
                                                    quoted(counter.name), quoted(keys.front())));
  }
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
  }
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (keys.empty()) return 0;
  const auto added = run(read_sql("create_keys", counter.name, counter.rule, counter.schema),
                         Parameters().array(array_of(keys)));
  if (!added) return fail(added.error());
  return added->number(0, 0);
}

Result<void> PostgresqlConnection::drop(const StoredCounter& counter) {
  if (auto locked = run_named("lock_definitions"); !locked) return locked;
  if (auto current = check_current(counter, ErrorCode::unknown_counter); !current) return current;
  for (const auto& text : CounterSql(counter.name, counter.rule, counter.schema).removal()) {
    if (auto done = run(text); !done) return fail(std::move(done.error()));
  }
  return {};
}

}  // namespace splitcount::engine::postgresql
