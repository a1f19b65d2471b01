// status: what the database promises.
#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

std::string answer(const Session& session, const Status& status) {
  std::string text = fmt::format(
      "database    {}\nengine      {} {}\ndurability  {}\nschema      {}\ncounters    {}\nsize        {} bytes\n",
      session.database_name(), status.engine, status.engine_version, status.durability,
      status.schema_version == 0 ? std::string("not installed") : fmt::format("version {}", status.schema_version),
      grouped(status.counters), grouped(status.size_bytes));
  for (const auto& counter : status.closed) text += fmt::format("Closed: {}\n", counter);
  for (const auto& work : status.overdue) text += fmt::format("Overdue: {}\n", work);
  for (const auto& warning : status.warnings) text += fmt::format("Warning: {}\n", warning);
  return text;
}

Result<ExitCode> run_status(Session& session) {
  const auto status = session.database->status();
  if (!status) return fail(status.error());
  session.out.print(session.out.json() ? status_json(session.database_name(), *status) : answer(session, *status));
  return status->overdue.empty() ? ExitCode::done : ExitCode::difference;
}

void declare(Command& /*command*/) {}

Result<Action> read(const Command& /*command*/) { return Action(run_status); }

}  // namespace

Verb status_verb() {
  return {"status", "Shows what the database is and promises",
          "Shows the engine, what a commit means there (its durability class), warnings where the database is set weaker,\n"
          "and sizes. Work that is overdue is named, and the exit code is then 3.",
          "  splitcount status\n"
          "  splitcount status --db postgresql://app@db.example/shop\n"
          "  splitcount status --json",
          declare, read};
}

}  // namespace splitcount::cli
