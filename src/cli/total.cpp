// total: the sum over the slots.
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/text.h>
#include <cli/json.h>
#include <cli/table.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

std::string one_line(std::string_view name, const Total& total) {
  const auto number = total.key ? fmt::format("{} {}", name, printable(*total.key)) : std::string(name);
  return fmt::format("{}: {} ({}, {}, from {})", number, grouped(total.total), total.live ? "live" : "rolled up",
                     format_instant(total.as_of), counted(total.slots, "slot"));
}

std::string table_of(const std::vector<Total>& totals, const Terminal& terminal) {
  Table table({{"key"}, {"total", Table::Align::right}, {"slots", Table::Align::right}});
  for (const auto& total : totals) table.row({printable(total.key.value_or("")), grouped(total.total), grouped(total.slots)});
  return table.render(terminal) + fmt::format("{}, {}", totals.front().live ? "live" : "rolled up",
                                              format_instant(totals.front().as_of));
}

Result<ExitCode> run_total(const std::string& name, const std::vector<std::string>& keys, Session& session) {
  const auto counter = session.database->counter(name);
  if (!counter) return fail(counter.error());
  if (keys.size() > 1) {
    const auto totals = counter->totals(keys);
    if (!totals) return fail(totals.error());
    session.out.print(session.out.json() ? totals_json(name, *totals) : table_of(*totals, session.out.terminal()));
    return ExitCode::done;
  }
  const auto total = counter->total(keys.empty() ? std::string_view{} : std::string_view(keys.front()));
  if (!total) return fail(total.error());
  session.out.print(session.out.json() ? total_json(name, *total) : one_line(name, *total));
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter");
  command.argument("KEY", "Without one: the counter's total, or the sum over all its keys", 0, static_cast<std::size_t>(-1));
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  auto keys = read_keys(command, 1);
  if (!keys) return fail(std::move(keys).error());
  return Action([name = *std::move(name), keys = *std::move(keys)](Session& session) { return run_total(name, keys, session); });
}

}  // namespace

Verb total_verb() {
  return {"total", "Shows a total, or several from one snapshot",
          "Shows a total with how fresh it is. Several keys are read in one snapshot.",
          "  splitcount total page_views /home\n"
          "  splitcount total page_views /home /about --json\n"
          "  splitcount total prizes_won",
          declare, read};
}

}  // namespace splitcount::cli
