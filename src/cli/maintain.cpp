// maintain: does what is due now and then.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/json.h>
#include <cli/progress.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

bool did_something(const Maintained& counter) { return counter.deltas_folded > 0 || counter.ids_purged > 0; }

/// "3 deltas folded, 1 request id purged"
std::string work_of(const Maintained& counter) {
  std::string text;
  if (counter.deltas_folded > 0) text = counted(counter.deltas_folded, "delta") + " folded";
  if (counter.ids_purged > 0) {
    text += fmt::format("{}{} purged", text.empty() ? "" : ", ", counted(counter.ids_purged, "request id"));
  }
  return text.empty() ? "nothing was due" : text;
}

std::string answer(const std::vector<Maintained>& counters) {
  std::string text;
  for (const auto& counter : counters) {
    if (did_something(counter)) text += fmt::format("{}: {}\n", counter.counter, work_of(counter));
  }
  return text.empty() ? fmt::format("nothing was due in {}",
                                    counted(static_cast<std::int64_t>(counters.size()), "counter"))
                      : text;
}

/// A counter that could not be done leaves the others done; the first error is the answer where it is that of all.
Result<ExitCode> report(const std::vector<Maintained>& counters, Session& session) {
  const auto failed = std::find_if(counters.begin(), counters.end(), [](const auto& one) { return one.error.has_value(); });
  session.changed = std::any_of(counters.begin(), counters.end(), did_something);
  const bool all_failed = std::all_of(counters.begin(), counters.end(), [](const auto& one) { return one.error.has_value(); });
  if (failed != counters.end() && all_failed && !session.changed) return fail(*failed->error);
  session.out.print(session.out.json() ? maintained_json(counters) : answer(counters));
  for (const auto& counter : counters) {
    if (counter.error) Output::note(fmt::format("{} is not done: {}", counter.counter, counter.error->message));
  }
  return failed == counters.end() ? ExitCode::done : ExitCode::partial;
}

Result<ExitCode> run_maintain(const std::string& name, Session& session) {
  Result<std::vector<Maintained>> done;
  {
    ProgressLine line;
    done = session.database->maintain(name, [&line](const Maintained& counter) {
      if (line.is_due()) line.draw(fmt::format("{}  {}", counter.counter, work_of(counter)));
    });
  }
  if (!done) return fail(std::move(done).error());
  return report(*done, session);
}

void declare(Command& command) { command.argument("NAME", "The counter; without it all of them", 0); }

Result<Action> read(const Command& command) {
  std::string name;
  if (!command.arguments().empty()) {
    auto given = read_name(command);
    if (!given) return fail(std::move(given).error());
    name = *std::move(given);
  }
  return Action([name](Session& session) { return run_maintain(name, session); });
}

}  // namespace

Verb maintain_verb() {
  return {"maintain", "Does what is due now and then",
          "Moves what counters with layout journal have pending into their slots, and removes request ids whose window has\n"
          "passed, in short transactions beside writers. Run it from a timer, say every minute, as often as several at once:\n"
          "where nothing is due it does nothing. `splitcount status` says where it is overdue.",
          "  splitcount maintain --db postgresql:service=shop\n"
          "  splitcount maintain page_views --json",
          declare, read};
}

}  // namespace splitcount::cli
