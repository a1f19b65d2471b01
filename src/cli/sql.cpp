// sql define: the script for a DBA, without a database.
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

constexpr std::string_view dialect_default = "sqlite";

void declare(Command& command) {
  command.argument("define", "What to print a script for");
  command.argument("NAME", "The counter");
  command.argument("KEY", "Keys that get all their slots", 0, static_cast<std::size_t>(-1));
  declare_rule(command);
  command.heading("The script");
  command.option("--dialect", "WORD", "sqlite (default), postgresql or mariadb");
}

Result<Action> read(const Command& command) {
  if (const auto& what = command.arguments().front(); what != "define")
    return fail(ErrorCode::invalid_argument,
                fmt::format("there is no script for {}; right is: splitcount sql define NAME", splitcount::quoted(what)));
  auto name = read_name(command, 1);
  if (!name) return fail(std::move(name).error());
  auto options = read_rule(command);
  if (!options) return fail(std::move(options).error());
  auto keys = read_keys(command, 2);
  if (!keys) return fail(std::move(keys).error());
  const auto dialect = command.value("--dialect").value_or(std::string(dialect_default));
  auto script = Database::script(dialect, *name, *options, *keys);
  if (!script) return fail(std::move(script).error());
  return Action([name = *std::move(name), dialect, script = *std::move(script)](Session& session) -> Result<ExitCode> {
    session.out.print(session.out.json() ? script_json(name, dialect, script) : script);
    return ExitCode::done;
  });
}

}  // namespace

Verb sql_verb() {
  return {"sql", "Prints the SQL that defines a counter, without a database",
          "Prints the complete script that define would run, without a database: for review, or for a migration.\n"
          "Objects made by hand from it are as good as those made by define.",
          "  splitcount sql define page_views --key page --slots 16 --dialect sqlite\n"
          "  splitcount sql define prizes_won --slots 11 --pick value --dialect postgresql > V7__prizes_won.sql",
          declare, read, false};
}

}  // namespace splitcount::cli
