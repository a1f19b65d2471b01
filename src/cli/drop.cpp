// drop: removes one counter.
#include <utility>

#include <fmt/format.h>

#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

Result<ExitCode> run_drop(const std::string& name, bool is_sure, Session& session) {
  auto counter = session.database->counter(name);
  if (!counter) return fail(std::move(counter).error());
  if (!is_sure && !is_confirmed(fmt::format("Drop {} with all its counts?", name)))
    return fail(ErrorCode::invalid_argument, fmt::format("{} was not dropped, as you wished", name));
  if (auto dropped = session.database->drop(name); !dropped) return fail(std::move(dropped).error());
  session.changed = true;
  session.out.print(session.out.json() ? dropped_json(name) : fmt::format("{} is dropped", name));
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter");
  declare_yes(command);
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  const auto sure = read_yes(command, *name + " with all its counts");
  if (!sure) return fail(sure.error());
  return Action([name = *std::move(name), is_sure = *sure](Session& session) { return run_drop(name, is_sure, session); });
}

}  // namespace

Verb drop_verb() {
  return {"drop", "Removes a counter with all its counts",
          "Removes a counter with all its counts, its request ids and what is known of files that were counted into it.\n"
          "It asks at a terminal, and needs --yes elsewhere.",
          "  splitcount drop page_views\n"
          "  splitcount drop page_views --yes",
          declare, read};
}

}  // namespace splitcount::cli
