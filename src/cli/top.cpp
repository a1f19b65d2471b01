// top: the largest totals.
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <cli/json.h>
#include <cli/table.h>
#include <cli/verbs.h>
#include <rule/amount.h>

namespace splitcount::cli {
namespace {

constexpr int top_default = 10;

Result<ExitCode> run_top(const std::string& name, int n, Session& session) {
  const auto counter = session.database->counter(name);
  if (!counter) return fail(counter.error());
  const auto totals = counter->top(n);
  if (!totals) return fail(totals.error());
  if (session.out.json()) {
    session.out.print(totals_json(name, *totals));
  } else if (totals->empty()) {
    session.out.print(fmt::format("{} has no key yet", name));
  } else {
    const auto& terminal = session.out.terminal();
    session.out.print(totals_table(*totals, counter->rule().key.value_or("counter"), terminal));
    session.out.print(terminal.dim(fmt::format("{}, {}", totals->front().live ? "live" : "rolled up",
                                               format_instant(totals->front().as_of))));
  }
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter");
  command.option("-n,--number", "N", fmt::format("How many, 1 to {}. Default {}", grouped(limits::top_max), top_default));
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  std::int64_t n = top_default;
  if (const auto text = command.value("--number")) {
    const auto number = rule::parse_whole(*text);
    if (!number || *number < 1 || *number > limits::top_max)
      return fail(ErrorCode::invalid_argument, fmt::format("-n {} is not a whole number from 1 to {}",
                                                           splitcount::quoted(*text), grouped(limits::top_max)));
    n = *number;
  }
  return Action([name = *std::move(name), n](Session& session) { return run_top(name, static_cast<int>(n), session); });
}

}  // namespace

Verb top_verb() {
  return {"top", "Shows the largest totals", "Shows the keys with the largest totals, largest first, from one snapshot.",
          "  splitcount top page_views\n"
          "  splitcount top page_views -n 3 --json",
          declare, read};
}

}  // namespace splitcount::cli
