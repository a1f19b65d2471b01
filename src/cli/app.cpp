#include <cli/app.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <splitcount/version.h>

#include <base/text.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

constexpr std::string_view about =
    "Counts exactly in a SQL database while many writers hit the same number at once.";

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> verbs = {define_verb(), list_verb(),   describe_verb(), add_verb(),
                                          total_verb(),  slots_verb(),  top_verb(),      count_verb(),
                                          status_verb(), maintain_verb(), compare_verb(), advise_verb(),
                                          inspect_verb(), doctor_verb(), copy_verb(), open_verb(), sql_verb(),
                                          drop_verb(),   uninstall_verb()};
  return verbs;
}

void declare_global(Command& command) {
  command.heading("Options of every verb");
  command.option("--db", "DSN",
                 "The database: sqlite:PATH, PATH, postgresql://HOST/DATABASE or mariadb://HOST/DATABASE.\n"
                 "Without it SPLITCOUNT_DB, else db in ./splitcount.toml, else splitcount.db");
  command.flag("--json", "The answer as JSON, errors too");
  command.flag("-h,--help", "This help");
}

std::string verb_lines() {
  std::string lines = "Verbs:\n";
  for (const auto& verb : all_verbs()) lines += fmt::format("  {:<11} {}\n", verb.name, verb.summary);
  return lines;
}

Command program() {
  Command command("splitcount", about);
  command.argument("VERB", "What to do; the verbs are below");
  command.flag("--version", "The version");
  declare_global(command);
  command.footer(verb_lines() +
                 "\nsplitcount VERB --help explains a verb, with examples.\n\n"
                 "Exit codes: 0 done, 1 failed and nothing changed, 2 wrong usage, 3 a check found a difference,\n"
                 "4 outcome unknown, 5 stopped part-way: run it again.");
  return command;
}

Command command_of(const Verb& verb) {
  Command command(fmt::format("splitcount {}", verb.name), verb.description);
  verb.declare(command);
  declare_global(command);
  command.footer(fmt::format("Examples:\n{}", verb.examples));
  return command;
}

/// A command line that cannot be read has to be answered as JSON too where it asks for it.
bool asks_for_json(std::span<const std::string> words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

Result<const Verb*> find_verb(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& verb : all_verbs()) {
    if (verb.name == name) return &verb;
    names.emplace_back(verb.name);
  }
  const auto near = nearest(name, names);
  return fail(ErrorCode::invalid_argument,
              fmt::format("there is no verb {}; {}", splitcount::quoted(name),
                          near.empty() ? std::string("splitcount --help lists them") : fmt::format("did you mean {}?", near)));
}

/// To be typed again. A password is never among the words: one in a DSN there is refused.
std::string line_of(std::span<const std::string> words) {
  std::string line = "splitcount";
  for (const auto& word : words) line += " " + shell_word(word);
  return line;
}

/// Prints, and says how it went.
ExitCode finish(Output& out, ExitCode code, bool changed) {
  const auto written = out.flush();
  if (written) return code;
  const auto& error = written.error();
  Output::note(changed ? error.message + "; what was asked for is done all the same" : error.message);
  return changed ? ExitCode::unknown : code == ExitCode::done ? ExitCode::failed : code;
}

ExitCode refuse(Output& out, const Error& error) {
  out.report(error);
  return finish(out, ExitCode::usage, false);
}

ExitCode act(Output& out, const Verb& verb, const Action& action, const std::optional<std::string>& db_flag,
             std::string command_line) {
  Session session{out, {}, nullptr};
  session.command_line = std::move(command_line);
  std::optional<Database> database;
  if (verb.needs_database) {
    auto dsn = find_dsn(db_flag);
    if (!dsn) return refuse(out, dsn.error());
    session.dsn = *std::move(dsn);
    auto opened = Database::open(session.dsn.text);
    if (!opened) return refuse(out, opened.error());
    database = *std::move(opened);
    session.database = &*database;
  }
  const auto result = action(session);
  if (result) return finish(out, *result, session.changed);
  out.report(result.error());
  return finish(out, result.error().outcome_unknown ? ExitCode::unknown : ExitCode::failed, session.changed);
}

ExitCode run_verb(Output& out, const Verb& verb, std::span<const std::string> words, const Command& leading,
                  const std::string& command_line) {
  auto command = command_of(verb);
  if (auto parsed = command.parse(words); !parsed) return refuse(out, parsed.error());
  if (command.has("--help")) {
    out.print(wrapped(command.help(), out.terminal()));
    return finish(out, ExitCode::done, false);
  }
  auto db_flag = command.value("--db");
  if (db_flag && leading.has("--db")) {
    Error error;
    error.code = ErrorCode::invalid_argument;
    error.message = "--db is given twice; give it once";
    return refuse(out, error);
  }
  if (!db_flag) db_flag = leading.value("--db");
  auto action = verb.read(command);
  if (!action) return refuse(out, action.error());
  return act(out, verb, *action, db_flag, command_line);
}

}  // namespace

std::string Session::command() const {
  return dsn.is_from_flag ? fmt::format("splitcount --db {}", shell_word(dsn.text)) : "splitcount";
}

std::string Session::database_name() const {
  // A DSN from a file or the environment may hold a password after its scheme.
  return holds_password(dsn.text) ? dsn.text.substr(0, dsn.text.find(':')) : printable(dsn.text);
}

int run(std::span<const std::string> words) {
  Output out(asks_for_json(words));
  try {
    auto leading = program();
    auto used = leading.parse_leading_options(words);
    if (!used) return static_cast<int>(refuse(out, used.error()));
    const auto rest = words.subspan(*used);
    if (leading.has("--version")) {
      out.print(fmt::format("splitcount {}", SPLITCOUNT_VERSION));
      return static_cast<int>(finish(out, ExitCode::done, false));
    }
    if (leading.has("--help") || rest.empty()) {
      out.print(wrapped(leading.help(), out.terminal()));
      return static_cast<int>(finish(out, ExitCode::done, false));
    }
    auto verb = find_verb(rest.front());
    if (!verb) return static_cast<int>(refuse(out, verb.error()));
    return static_cast<int>(run_verb(out, **verb, rest.subspan(1), leading, line_of(words)));
  } catch (const std::exception& exception) {
    // Out of memory, or a fault of ours; whether something was committed cannot be told from here.
    Error error;
    error.code = ErrorCode::internal;
    error.message = fmt::format("an internal fault stopped this command ({})", exception.what());
    error.outcome_unknown = true;
    out.report(error);
    return static_cast<int>(finish(out, ExitCode::unknown, true));
  }
}

}  // namespace splitcount::cli
