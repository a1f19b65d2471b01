// uninstall: removes everything of ours.
#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

Result<ExitCode> run_uninstall(bool is_sure, Session& session) {
  const auto counters = session.database->list();
  if (!counters) return fail(counters.error());
  const auto what = counted(static_cast<std::int64_t>(counters->size()), "counter");
  if (!is_sure && !is_confirmed(fmt::format("Remove {} and everything of splitcount from {}?", what, session.database_name())))
    return fail(ErrorCode::invalid_argument, "nothing was removed, as you wished");
  if (auto done = session.database->uninstall(); !done) return fail(std::move(done).error());
  session.changed = true;
  session.out.print(session.out.json()
                        ? uninstalled_json()
                        : fmt::format("{} and everything of splitcount are removed from {}", what, session.database_name()));
  return ExitCode::done;
}

void declare(Command& command) { declare_yes(command); }

Result<Action> read(const Command& command) {
  const auto sure = read_yes(command, "every counter and everything of splitcount");
  if (!sure) return fail(sure.error());
  return Action([is_sure = *sure](Session& session) { return run_uninstall(is_sure, session); });
}

}  // namespace

Verb uninstall_verb() {
  return {"uninstall", "Removes every counter and everything of splitcount",
          "Removes every counter and every object of splitcount from the database; your own tables stay, and so does the\n"
          "file. It asks at a terminal, and needs --yes elsewhere.",
          "  splitcount uninstall\n"
          "  splitcount uninstall --db visits.db --yes",
          declare, read};
}

}  // namespace splitcount::cli
