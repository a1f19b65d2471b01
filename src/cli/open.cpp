// open: takes adds again in a counter that `copy --final` closed.
#include <utility>

#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

Result<ExitCode> run_open(const std::string& name, Session& session) {
  const auto was_closed = session.database->reopen(name);
  if (!was_closed) return fail(was_closed.error());
  session.changed = *was_closed;
  if (session.out.json()) {
    session.out.print(opened_json(name, *was_closed));
  } else {
    session.out.print(name + (*was_closed ? " takes adds here again" : " unchanged: it takes adds here"));
  }
  return ExitCode::done;
}

void declare(Command& command) { command.argument("NAME", "The counter"); }

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  return Action([name = *std::move(name)](Session& session) { return run_open(name, session); });
}

}  // namespace

Verb open_verb() {
  return {"open", "Takes adds again in a counter that copy --final closed",
          "Takes adds again in a counter that `splitcount copy --final` closed: the way back where the new place is not used\n"
          "after all. What was counted at the new place is not brought back; where something was, drop the counter here and\n"
          "copy it back instead.",
          "  splitcount open page_views\n"
          "  splitcount open page_views --json",
          declare, read};
}

}  // namespace splitcount::cli
