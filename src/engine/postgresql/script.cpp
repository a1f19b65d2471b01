#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/engine.h>
#include <engine/postgresql/quote.h>
#include <rule/key.h>
#include <rule/name.h>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::postgresql {
namespace {

/// A script is made without a database, so it cannot know whose search_path it will meet.
constexpr std::string_view script_schema = "public";

}  // namespace

Result<std::string> script(std::string_view name, const Rule& rule, std::span<const std::string> keys) {
  if (auto checked = rule::check_counter_name(name); !checked) return fail(std::move(checked.error()));
  if (!rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid,
                fmt::format("counter {} has no key, so key {} cannot be created", quoted(name), quoted(keys.front())));
  }
  const CounterSql sql(name, rule, script_schema);
  std::string out;
  const auto put = [&out](std::string_view text) { out += fmt::format("{}\n\n", text); };
  put(sql.text("script_header"));
  put(shared_sql("script_begin", script_schema));
  put(shared_sql("script_install", script_schema));
  for (const auto step : schema_steps) put(shared_sql(step, script_schema));
  put(shared_sql("script_counter", script_schema));
  for (const auto& text : sql.definition()) put(text);
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
    put(sql.text("create_slots", quote_text(key)));
  }
  out.pop_back();
  return out;
}

}  // namespace splitcount::engine::postgresql
