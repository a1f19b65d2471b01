// add: one change by a whole number.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/verbs.h>
#include <rule/amount.h>
#include <rule/key.h>

namespace splitcount::cli {
namespace {

struct Request {
  std::string name;
  std::optional<std::string> key{};
  std::int64_t amount = 1;
  std::optional<std::string> request_id{};
  std::optional<std::int64_t> value{};
  std::optional<int> slot{};
};

std::string answer(const Request& request, const Added& added) {
  const auto number = request.key ? fmt::format("{} {}", request.name, printable(*request.key)) : request.name;
  if (added.replay) return fmt::format("{}: counted before under this request id, in slot {}; nothing added", number, added.slot);
  return fmt::format("{}: {}{} in slot {}", number, request.amount < 0 ? "" : "+", grouped(request.amount), added.slot);
}

Result<ExitCode> run_add(const Request& request, Session& session) {
  auto counter = session.database->counter(request.name);
  if (!counter) return fail(std::move(counter).error());
  Add add;
  if (request.key) add.key = *request.key;
  add.amount = request.amount;
  if (request.request_id) add.request_id = *request.request_id;
  add.value = request.value;
  add.slot = request.slot;
  const auto added = counter->add(add);
  if (!added) return fail(added.error());
  session.changed = true;
  session.out.print(session.out.json() ? added_json(request.name, request.key, request.amount, *added)
                                       : answer(request, *added));
  return ExitCode::done;
}

void declare(Command& command) {
  command.argument("NAME", "The counter");
  command.argument("KEY", "The key, where the counter has one; after -- where it begins with a dash", 0);
  command.option("--by", "N", "The amount, a whole number like 3 or -3. Default 1");
  command.option("--request-id", "ID", "Your name for this add, 1 to 128 bytes: sent again it is\nknown, and counts once (rule: retries once)");
  command.option("--value", "N", "The whole number that chooses the slot (rule: pick value)");
  command.option("--slot", "N", "The slot; it is used or refused, never replaced");
}

Result<void> read_texts(const Command& command, Request& request) {
  if (const auto keys = command.arguments_from(1); !keys.empty()) {
    if (auto checked = rule::check_key(keys.front()); !checked) return checked;
    request.key = keys.front();
  }
  request.request_id = command.value("--request-id");
  return request.request_id ? rule::check_request_id(*request.request_id) : Result<void>{};
}

Result<void> read_numbers(const Command& command, Request& request) {
  if (const auto text = command.value("--by")) {
    auto amount = rule::parse_amount(*text);
    if (!amount) return fail(std::move(amount).error());
    request.amount = *amount;
  }
  if (const auto text = command.value("--value")) {
    auto value = rule::parse_value(*text);
    if (!value) return fail(std::move(value).error());
    request.value = *value;
  }
  if (const auto text = command.value("--slot")) {
    auto slot = rule::parse_slot(*text);
    if (!slot) return fail(std::move(slot).error());
    request.slot = *slot;
  }
  return {};
}

Result<Action> read(const Command& command) {
  auto name = read_name(command);
  if (!name) return fail(std::move(name).error());
  Request request{*std::move(name)};
  if (auto done = read_texts(command, request); !done) return fail(std::move(done).error());
  if (auto done = read_numbers(command, request); !done) return fail(std::move(done).error());
  return Action([request = std::move(request)](Session& session) { return run_add(request, session); });
}

}  // namespace

Verb add_verb() {
  return {"add", "Adds a whole number to a counter",
          "Adds a whole number to a counter, in a transaction of its own: done means committed. After exit code 4 the\n"
          "outcome is unknown; with a request id the same add can be sent again until it is answered, and counts once.",
          "  splitcount add page_views /home\n"
          "  splitcount add page_views /home --by 3 --request-id 7f3a\n"
          "  splitcount add votes yes --by -1\n"
          "  splitcount add prizes_won --value 4711\n"
          "  splitcount add page_views -- --odd-key",
          declare, read};
}

}  // namespace splitcount::cli
