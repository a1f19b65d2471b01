// list: the counters of a database.
#include <base/clock.h>
#include <base/text.h>
#include <cli/json.h>
#include <cli/table.h>
#include <cli/verbs.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

std::string answer(const std::vector<CounterInfo>& counters, const Session& session) {
  if (counters.empty()) return "no counter yet; " + session.command() + " define NAME creates one";
  Table table({{"counter"},
               {"key"},
               {"slots", Table::Align::right},
               {"pick"},
               {"missing"},
               {"retries"},
               {"layout"},
               {"created"}});
  for (const auto& counter : counters) {
    const auto& rule = counter.rule;
    table.row({counter.name, rule.key.value_or("-"), grouped(rule.slots), std::string(rule::to_text(rule.pick)),
               std::string(rule::to_text(rule.missing)), rule::to_text(rule.retries),
               std::string(rule::to_text(rule.layout)), format_instant(counter.created_at)});
  }
  return table.render(session.out.terminal());
}

Result<ExitCode> run_list(Session& session) {
  const auto counters = session.database->list();
  if (!counters) return fail(counters.error());
  session.out.print(session.out.json() ? list_json(*counters) : answer(*counters, session));
  return ExitCode::done;
}

void declare(Command& /*command*/) {}

Result<Action> read(const Command& /*command*/) { return Action(run_list); }

}  // namespace

Verb list_verb() {
  return {"list", "Lists the counters", "Lists the counters of a database with their rules, by name.",
          "  splitcount list\n"
          "  splitcount list --db visits.db --json",
          declare, read};
}

}  // namespace splitcount::cli
