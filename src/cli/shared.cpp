// What several verbs share: the options of a rule, names, keys, and the question before something is removed.
#include <iostream>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/verbs.h>
#include <rule/amount.h>
#include <rule/key.h>
#include <rule/name.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

/// Reads one option with its parser, where it is given.
template <class T>
Result<void> read_option(const Command& command, std::string_view name, Result<T> (*parse)(std::string_view),
                         std::optional<T>& into) {
  const auto text = command.value(name);
  if (!text) return {};
  auto parsed = parse(*text);
  if (!parsed) return fail(std::move(parsed).error());
  into = *std::move(parsed);
  return {};
}

Result<std::string> parse_key_name(std::string_view text) {
  if (auto checked = rule::check_key_name(text); !checked) return fail(std::move(checked).error());
  return std::string(text);
}

}  // namespace

void declare_rule(Command& command) {
  command.heading("The rule (for a counter that exists, what is left out means \"as stored\")");
  command.option("--key", "COLUMN", "A number for each key; COLUMN is what a key is called.\nWithout it: one number");
  command.option("--slots", "N", "Slots of each key, 1 to 1024. Default 16; on SQLite 1,\nsince it has one writer");
  command.option("--pick", "WORD",
                 "Who chooses the slot of an add: session, spread, random,\nrequest, free, value. Default: spread with a key, "
                 "else\nsession. On SQLite session and free mean random, and\nspread means slot 0");
  command.option("--missing", "WORD",
                 "What an add to a key or slot without a row does:\nerror (define creates the rows) or create.\nDefault: create "
                 "with a key, else error");
  command.option("--retries", "WORD",
                 "count: a repeated add counts again; once, once:24h:\nan add with a request id counts once, for ever or\nfor that "
                 "long. Default: count");
  command.option("--freshness", "WORD", "live (default), or rolled-up:1h (not on SQLite yet)");
  command.option("--layout", "WORD",
                 "compact (default), padded (not on SQLite: it would only\ncost space), journal (not on SQLite yet)");
}

Result<RuleOptions> read_rule(const Command& command) {
  RuleOptions options;
  auto read = read_option(command, "--key", parse_key_name, options.key);
  if (read) read = read_option(command, "--slots", rule::parse_slots, options.slots);
  if (read) read = read_option(command, "--pick", rule::parse_pick, options.pick);
  if (read) read = read_option(command, "--missing", rule::parse_missing, options.missing);
  if (read) read = read_option(command, "--retries", rule::parse_retries, options.retries);
  if (read) read = read_option(command, "--freshness", rule::parse_freshness, options.freshness);
  if (read) read = read_option(command, "--layout", rule::parse_layout, options.layout);
  if (!read) return fail(std::move(read).error());
  return options;
}

Result<std::vector<std::string>> read_keys(const Command& command, std::size_t first) {
  const auto keys = command.arguments_from(first);
  for (const auto& key : keys)
    if (auto checked = rule::check_key(key); !checked) return fail(std::move(checked).error());
  return std::vector<std::string>(keys.begin(), keys.end());
}

Result<std::string> read_name(const Command& command, std::size_t at) {
  const auto& name = command.arguments().at(at);
  if (auto checked = rule::check_counter_name(name); !checked) return fail(std::move(checked).error());
  return name;
}

bool is_about_the_rule(const Error& error) noexcept {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::key_invalid:
    case ErrorCode::name_invalid:
    case ErrorCode::rule_invalid:
    case ErrorCode::not_on_this_engine: return true;
    default: return false;
  }
}

void declare_yes(Command& command) { command.flag("--yes", "Do not ask"); }

Result<bool> read_yes(const Command& command, std::string_view what) {
  if (command.has("--yes")) return true;
  if (isatty(STDIN_FILENO) != 0) return false;
  return fail(ErrorCode::invalid_argument,
              fmt::format("this removes {} for good, and nobody is at a terminal to be asked; add --yes to mean it", what));
}

bool is_confirmed(std::string_view question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace splitcount::cli
