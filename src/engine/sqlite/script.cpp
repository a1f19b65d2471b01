#include <engine/sqlite/counter_sql.h>
#include <engine/sqlite/engine.h>
#include <engine/sqlite/quote.h>
#include <rule/key.h>
#include <rule/name.h>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::sqlite {

Result<std::string> script(std::string_view name, const Rule& rule, std::span<const std::string> keys) {
  if (auto checked = rule::check_counter_name(name); !checked) return fail(std::move(checked.error()));
  if (!rule.key && !keys.empty()) {
    return fail(ErrorCode::key_invalid,
                fmt::format("counter {} has no key, so key {} cannot be created", quoted(name), quoted(keys.front())));
  }
  const CounterSql sql(name, rule);
  std::string out;
  const auto put = [&out](std::string_view text) { out += fmt::format("{}\n\n", text); };
  put(sql.text("script_header"));
  put(shared_sql("script_install"));
  for (const auto step : schema_steps) put(shared_sql(step));
  put(shared_sql("script_counter"));
  for (const auto& text : sql.definition()) put(text);
  for (const auto& key : keys) {
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked.error()));
    put(sql.text("create_slots", quote_text(key)));
  }
  out.pop_back();
  return out;
}

}  // namespace splitcount::engine::sqlite
