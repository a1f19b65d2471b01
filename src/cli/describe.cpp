// describe: a counter's rule in words, what it is in the database, and how large.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

std::string_view words_of(Pick pick) {
  switch (pick) {
    case Pick::session: return "each session has a slot of its own (one writer: at random)";
    case Pick::spread: return "slot 0 while nobody holds it, else one of the session's own (one writer: slot 0)";
    case Pick::random: return "one drawn at random for each transaction";
    case Pick::request: return "by hash of the request id, so that a retry meets its first try";
    case Pick::free: return "one that nobody holds now (one writer: at random)";
    case Pick::value: return "the remainder of the add's value by the number of slots";
  }
  return {};
}

std::string_view words_of(Missing missing) {
  return missing == Missing::error ? "an add to it is refused; define creates the rows" : "an add creates the one row that it needs";
}

std::string words_of(const Retries& retries) {
  if (!retries.once) return "a repeated add counts again; request ids are refused";
  return fmt::format("an add with a request id counts once, {}",
                     retries.window ? "within " + rule::format_duration(*retries.window) : std::string("for ever"));
}

std::string_view words_of(Layout layout) {
  switch (layout) {
    case Layout::compact: return "slots side by side";
    case Layout::padded: return "each slot on a page of its own";
    case Layout::journal: return "adds are appended, and folded into the slots in bulk";
  }
  return {};
}

/// What the script for this rule says; SQL is written in sql/ only.
Result<std::string> script_of(const CounterInfo& counter, const std::string& dialect) {
  RuleOptions options;
  options.key = counter.rule.key;
  options.slots = counter.rule.slots;
  options.pick = counter.rule.pick;
  options.missing = counter.rule.missing;
  options.retries = counter.rule.retries;
  options.freshness = counter.rule.freshness;
  options.layout = counter.rule.layout;
  return Database::script(dialect, counter.name, options);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> use_of(std::string_view script) {
  constexpr std::string_view mark = "-- To ";
  std::vector<std::string> uses;
  for (const auto line : lines_of(script)) {
    if (line.starts_with(mark)) uses.emplace_back(line.substr(3));
  }
  return uses;
}

/// The counter's own; those that all share are created only where they are missing, or replaced.
std::vector<std::string> objects_of(std::string_view script, std::string_view counter) {
  std::vector<std::string> names;
  for (auto line : lines_of(script)) {
    for (const std::string_view kind : {"CREATE TABLE ", "CREATE VIEW ", "CREATE FUNCTION "}) {
      if (!line.starts_with(kind)) continue;
      auto name = line.substr(kind.size());
      name = name.substr(0, name.find_first_of("( "));
      if (const auto dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
      while (name.starts_with('"')) name.remove_prefix(1);
      while (name.ends_with('"')) name.remove_suffix(1);
      if (name.starts_with(counter)) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Description> look(const std::string& name, const Session& session) {
  const auto handle = session.database->counter(name);
  if (!handle) return fail(handle.error());
  auto counters = session.database->list();
  if (!counters) return fail(std::move(counters).error());
  const auto found = std::find_if(counters->begin(), counters->end(), [&](const auto& info) { return info.name == name; });
  if (found == counters->end())
    return fail(ErrorCode::unknown_counter, fmt::format("{} was dropped a moment ago", name));
  Description description;
  description.counter = *found;
  const auto status = session.database->status();
  if (!status) return fail(status.error());
  const auto script = script_of(*found, status->engine);
  if (!script) return fail(script.error());
  description.use = use_of(*script);
  description.objects = objects_of(*script, name);
  const auto keys = handle->keys();
  if (!keys) return fail(keys.error());
  description.keys = *keys;
  auto total = handle->total();
  // Keys may be within 64 bits and their sum beyond; a description needs none.
  if (!total && total.error().code != ErrorCode::out_of_range) return fail(std::move(total).error());
  if (total) description.total = *std::move(total);
  return description;
}

std::string answer(const Description& description, const Terminal& terminal) {
  const auto& counter = description.counter;
  const auto& rule = counter.rule;
  const auto field = [](std::string_view name, std::string_view value, std::string_view words) {
    return fmt::format("  {:<10} {:<12} {}\n", name, value, words);
  };
  std::string text = fmt::format("{}, defined {} (rule version {})\n", terminal.bold(counter.name),
                                 format_instant(counter.created_at), grouped(counter.version));
  if (counter.moved_to) {
    text += fmt::format("Closed: it has moved to {}, and adds here are refused; `splitcount open {}` takes them again\n",
                        *counter.moved_to, counter.name);
  }
  text += "\nRule\n";
  text += rule.key ? field("key", *rule.key, fmt::format("a number for each {}", *rule.key)) : field("key", "-", "one number");
  text += field("slots", grouped(rule.slots), rule.key ? "of each key" : "");
  text += field("pick", rule::to_text(rule.pick), words_of(rule.pick));
  text += field("missing", rule::to_text(rule.missing), words_of(rule.missing));
  text += field("retries", rule::to_text(rule.retries), words_of(rule.retries));
  text += field("freshness", rule::to_text(rule.freshness), rule.freshness.rolled_up ? "totals may be this old" : "totals are of now");
  text += field("layout", rule::to_text(rule.layout), words_of(rule.layout));
  text += "\nIn the database\n";
  for (const auto& name : description.objects) text += fmt::format("  {}\n", name);
  if (rule.key) text += fmt::format("  {} with a row\n", counted(description.keys, "key"));
  if (description.total)
    text += fmt::format("  {}, total {}\n", counted(description.total->slots, "slot row"), grouped(description.total->total));
  text += "\nUse\n";
  for (const auto& line : description.use) text += fmt::format("  {}\n", line);
  return text;
}

Result<ExitCode> run_describe(const std::string& name, Session& session) {
  const auto description = look(name, session);
  if (!description) return fail(description.error());
  session.out.print(session.out.json() ? description_json(*description) : answer(*description, session.out.terminal()));
  return ExitCode::done;
}

void declare(Command& command) { command.argument("NAME", "The counter"); }

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  return Action([name = *std::move(name)](Session& session) { return run_describe(name, session); });
}

}  // namespace

Verb describe_verb() {
  return {"describe", "Shows a counter's rule in words, its objects and sizes",
          "Shows a counter's rule in words, its objects in the database, how SQL uses them, and how large it is.",
          "  splitcount describe page_views\n"
          "  splitcount describe page_views --json",
          declare, read};
}

}  // namespace splitcount::cli
