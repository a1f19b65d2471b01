// define: creates a counter, or adds keys to one.
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

struct Request {
  std::string name;
  RuleOptions options;
  std::vector<std::string> keys;
};

std::string answer(const Request& request, const Rule& rule, const Defined& what) {
  std::string text;
  if (what.created) {
    const auto slots = counted(rule.slots, "slot");
    text = rule.key ? fmt::format("{} is defined: a number for each {}, with {} each", request.name, *rule.key, slots)
                    : fmt::format("{} is defined: one number with {}", request.name, slots);
  } else {
    text = fmt::format("{} unchanged: it is there with this rule", request.name);
  }
  if (what.slots_restored > 0)
    text = fmt::format("{} is there with this rule, and had lost {}; they are created again and begin at 0", request.name,
                       counted(what.slots_restored, "slot"));
  if (!request.keys.empty()) text += fmt::format("; {} of {} new", grouped(what.keys_added),
                                                 counted(static_cast<std::int64_t>(request.keys.size()), "key"));
  for (const auto& line : what.advice) text += fmt::format("\nAdvice: {}", line);
  return text;
}

/// Nothing is wrong with the words by themselves.
bool makes_a_script(const Request& request, const Session& session) {
  const auto& dsn = session.dsn.text;
  const bool is_postgresql = dsn.starts_with("postgresql:") || dsn.starts_with("postgres:");
  const std::string_view dialect = is_postgresql ? "postgresql" : dsn.starts_with("mariadb:") ? "mariadb" : "sqlite";
  return Database::script(dialect, request.name, request.options, request.keys).has_value();
}

Result<ExitCode> run_define(const Request& request, Session& session) {
  Defined what;
  auto counter = session.database->define(request.name, request.options, request.keys, &what);
  // Against a counter that exists the same words may be a fault of the moment; without one they never are, but for a
  // database that can hold no counters.
  if (!counter && is_about_the_rule(counter.error()) && !makes_a_script(request, session) &&
      !session.database->counter(request.name)) {
    session.out.report(counter.error());
    return ExitCode::usage;
  }
  if (!counter) return fail(std::move(counter).error());
  session.changed = what.created || what.keys_added > 0 || what.slots_restored > 0;
  if (session.out.json()) {
    session.out.print(defined_json(request.name, counter->rule(), what));
  } else {
    session.out.print(answer(request, counter->rule(), what));
  }
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter: a to z, 0 to 9 and _, beginning with a letter, at most 40");
  command.argument("KEY", "Keys that get all their slots now", 0, static_cast<std::size_t>(-1));
  declare_rule(command);
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  auto options = read_rule(command);
  if (!options) return fail(std::move(options).error());
  auto keys = read_keys(command, 1);
  if (!keys) return fail(std::move(keys).error());
  return Action([request = Request{*std::move(name), *std::move(options), *std::move(keys)}](Session& session) {
    return run_define(request, session);
  });
}

}  // namespace

Verb define_verb() {
  return {
      "define", "Creates a counter, or adds keys to one",
      "Creates a counter, or adds keys to one that is there. The same rule again changes nothing; another rule is\n"
      "refused with the difference. Creates the database file where there is none.\n\n"
      "Not for money: money wants a record of every movement, from which a balance can be explained and corrected.\n"
      "A counter keeps the sum and forgets the movements, its slots cannot refuse to go below zero in all, and there\n"
      "is nothing to check it against. Keep a ledger for money.",
      "  splitcount define page_views --key page --slots 16 --pick random --retries once:24h\n"
      "  splitcount define prizes_won --slots 11 --pick value\n"
      "  splitcount define prizes_won --slots 11 --pick value --db postgresql://app@db.example/shop\n"
      "  splitcount define votes yes no --key answer --missing error",
      declare, read};
}

}  // namespace splitcount::cli
