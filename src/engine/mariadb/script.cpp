#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/engine.h>
#include <engine/rule_row.h>
#include <rule/key.h>
#include <rule/name.h>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::mariadb {

Result<std::string> script(std::string_view name, const Rule& rule, std::span<const std::string> keys) {
  if (auto checked = rule::check_counter_name(name); !checked) return fail(std::move(checked.error()));
  if (!rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid,
                fmt::format("counter {} has no key, so key {} cannot be created", quoted(name), quoted(keys.front())));
  }
  const CounterSql sql(name, rule, Form::script);
  std::string out;
  const auto put = [&out](std::string_view text) {
    out += text;
    if (!text.ends_with(';') && !text.starts_with("--")) out += ';';
    out += "\n\n";
  };
  put(sql.text("script_header"));
  put(shared_sql("script_begin", Form::script));
  put(shared_sql("script_install", Form::script));
  for (const auto step : schema_steps) put(shared_sql(step, Form::script));
  put(sql.text("script_check"));
  put(shared_sql("script_counter", Form::script));
  for (const auto& text : sql.objects()) put(text);
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
  }
  put(statement(dialect, "go_on"));
  put(sql.text("rule_begun"));
  if (has_slots_at_once(rule) || !keys.empty()) put(sql.create_slots(keys));
  put(statement(dialect, "commit"));
  put(shared_sql("script_end", Form::script));
  out.pop_back();
  return out;
}

}  // namespace splitcount::engine::mariadb
