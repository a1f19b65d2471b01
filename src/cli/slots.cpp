// slots: the rows behind a total.
#include <algorithm>
#include <utility>

#include <base/text.h>
#include <cli/json.h>
#include <cli/table.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

std::string answer(const std::vector<Slot>& slots, const Terminal& terminal) {
  if (slots.empty()) return "no slot yet: nothing was added to this key";
  std::int64_t largest = 0;
  for (const auto& slot : slots) largest = std::max(largest, slot.n);
  Table table({{"slot", Table::Align::right}, {"n", Table::Align::right}, {""}});
  for (const auto& slot : slots) table.row({grouped(slot.slot), grouped(slot.n), bar(slot.n, largest, terminal)});
  return table.render(terminal);
}

Result<ExitCode> run_slots(const std::string& name, const std::string& key, Session& session) {
  const auto counter = session.database->counter(name);
  if (!counter) return fail(counter.error());
  const auto slots = counter->slots(key);
  if (!slots) return fail(slots.error());
  session.out.print(session.out.json() ? slots_json(*slots) : answer(*slots, session.out.terminal()));
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter");
  command.argument("KEY", "The key, where the counter has one", 0);
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  auto keys = read_keys(command, 1);
  if (!keys) return fail(std::move(keys).error());
  return Action([name = *std::move(name), key = keys->empty() ? std::string() : keys->front()](Session& session) {
    return run_slots(name, key, session);
  });
}

}  // namespace

Verb slots_verb() {
  return {"slots", "Shows the slots of a key", "Shows the slots that hold a key's count, in order.",
          "  splitcount slots page_views /home\n"
          "  splitcount slots prizes_won --json",
          declare, read};
}

}  // namespace splitcount::cli
