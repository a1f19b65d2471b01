#include <measure/settings.h>

#include <chrono>
#include <string>
#include <utility>

#include <base/clock.h>
#include <engine/engine.h>
#include <engine/statements.h>

namespace splitcount::measure {
namespace {

constexpr std::chrono::seconds answer_max{10};

}  // namespace

Result<Settings> settings_of(engine::Console& console, std::string_view dialect) {
  console.set_deadline(deadline_in(answer_max));
  auto rows = console.ask(std::string(engine::statement(dialect, "trial_settings")));
  if (!rows) return fail(std::move(rows.error()));
  Settings settings;
  for (const auto& row : *rows) settings.emplace_back(row[0].value_or(""), row[1].value_or(""));
  return settings;
}

Result<Settings> settings_of(const Target& target) {
  auto console = target.engine().console(deadline_in(answer_max));
  if (!console) return fail(std::move(console.error()));
  return settings_of(**console, target.dialect());
}

}  // namespace splitcount::measure
