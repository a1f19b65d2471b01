// compare: the ways to count against each other, on the user's own database.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <cli/measured.h>
#include <cli/report.h>
#include <cli/table.h>
#include <cli/trial_options.h>
#include <cli/verbs.h>
#include <rule/amount.h>

namespace splitcount::cli {
namespace {

constexpr int seconds_default = 3;
constexpr int rounds_default = 3;

struct Request {
  TrialRequest trial;
  std::optional<std::string> designs;
  std::optional<int> slots;
};

std::string exact_text(const measure::Measured& one) {
  return one.total_wrong_by == 0 ? "exact" : fmt::format("wrong by {}", grouped(one.total_wrong_by));
}

std::string table_of(const measure::TrialResult& result, const Terminal& terminal) {
  using Align = Table::Align;
  Table table({{"design"},          {"adds/s", Align::right}, {"of the limit", Align::right}, {"total"},
               {"waited", Align::right},  {"p50 ms", Align::right}, {"p99", Align::right},       {"p99.9", Align::right},
               {"deadlocks", Align::right}, {"retries", Align::right}, {"read ms", Align::right}, {"bytes/add", Align::right}, {""}});
  std::int64_t largest = 0;
  for (const auto& one : result.designs) {
    largest = std::max(largest, static_cast<std::int64_t>(measure::spread_of(one.adds_per_second).median));
  }
  for (const auto& one : result.designs) {
    const auto adds = static_cast<std::int64_t>(measure::spread_of(one.adds_per_second).median);
    table.row({one.design.name, grouped(adds), spread_text(one.of_limit, result.rounds), exact_text(one),
               fmt::format("{:.1f} %", one.share_waited * 100), milliseconds(one.p50_us), milliseconds(one.p99_us),
               milliseconds(one.p999_us), grouped(one.deadlocks), grouped(one.retries), milliseconds(one.total_us),
               fmt::format("{:.1f}", one.bytes_per_add), bar(adds, largest, terminal)});
  }
  return table.render(terminal);
}

std::string legend(const measure::TrialResult& result) {
  std::string text = "\n";
  for (const auto& one : result.designs) text += fmt::format("  {:<15} {}\n", one.design.name, one.design.what);
  return text;
}

std::string answer(const TrialReport& report, const Terminal& terminal) {
  return fmt::format("{}, {}, {} of {:g} s, {}, {}\n\n{}{}{}", engine_line(report), counted(report.options.sessions, "session"),
                     counted(static_cast<std::int64_t>(report.result.rounds), "round"),
                     std::chrono::duration<double>(report.options.turn).count(),
                     report.options.insert_too ? "an insert and its count" : "a count alone", report.isolation,
                     table_of(report.result, terminal), one_round_text(report.result.rounds), legend(report.result));
}

Result<ExitCode> run_compare(const Request& request, Session& session) {
  if (auto writable = check_report(request.trial.report); !writable) return fail(std::move(writable).error());
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  const int slots = request.slots.value_or(target->traits().one_writer
                                               ? 1
                                               : std::min(request.trial.sessions(*target), limits::slots_max));
  auto all = measure::designs(target->traits(), slots);
  if (request.designs) {
    auto selected = measure::select(all, *request.designs);
    if (!selected) {
      session.out.report(selected.error());
      return ExitCode::usage;
    }
    all = *std::move(selected);
  }
  auto report = report_of(request.trial, *target, session);
  auto result = with_progress(report, all.size(), [&](const auto& tell) { return measure::run_trial(*target, all, report.options, tell); });
  if (!result) return fail(std::move(result).error());
  report.result = *std::move(result);
  if (report.result.rounds == 0) {
    if (session.out.json()) session.out.print(compare_json(report));
    Output::note("stopped before a round was done; the trial's tables are removed");
    return ExitCode::partial;
  }
  const auto json = compare_json(report);
  session.out.print(session.out.json() ? json : answer(report, session.out.terminal()));
  const bool reported = is_reported(request.trial.report, json);
  if (report.result.stopped) Output::note("stopped by a signal; the rounds that were done are shown, and the trial's tables are removed");
  if (const auto& fault = report.result.fault) {
    const auto done = static_cast<std::int64_t>(report.result.rounds);
    Output::note(fmt::format("{} of {} done and shown, and then: {}", counted(done, "round"), report.options.rounds, fault->message));
  }
  if (const auto wrong = measure::wrong_total(report.result)) {
    Output::note(*wrong);
    return ExitCode::difference;
  }
  if (report.result.fault) return ExitCode::failed;
  if (!reported) return ExitCode::failed;
  return report.result.stopped ? ExitCode::partial : ExitCode::done;
}

void declare(Command& command) {
  declare_trial(command, seconds_default, rounds_default);
  command.option("--designs", "NAMES", "Only these, with commas between; the limit is always among\nthem. Default: all that the engine has. On all: one_row,\n"
                 "count_rows, trigger, random_11, once, batched; on SQLite:\ncounter; on PostgreSQL and MariaDB: session, free,\n"
                 "spread, random, value, request, journal, journal_folded;\non PostgreSQL: padded");
  command.option("--slots", "N", "Slots of our designs, 1 to 1024. Default: one for each\nsession; on SQLite 1");
}

Result<Action> read(const Command& command) {
  Request request;
  auto trial = read_trial(command, seconds_default, rounds_default);
  if (!trial) return fail(std::move(trial).error());
  request.trial = *std::move(trial);
  request.designs = command.value("--designs");
  if (const auto text = command.value("--slots")) {
    auto slots = rule::parse_slots(*text);
    if (!slots) return fail(std::move(slots).error());
    request.slots = *slots;
  }
  return Action([request = std::move(request)](Session& session) { return run_compare(request, session); });
}

}  // namespace

Verb compare_verb() {
  return {"compare", "Tries the ways to count against each other",
          "Runs the ways to count with many sessions at once on this database and shows what each costs: adds a second, the\n"
          "share of the limit (the same inserts with nothing counted), how long an add takes, how many adds waited for a\n"
          "lock, and whether the total was exact (exit code 3 where one of ours was not). It works in tables of its own\n"
          "(PostgreSQL: the schema splitcount_trial; MariaDB: the database of that name; SQLite: a file beside the\n"
          "database) and removes them. It loads the server: not in busy hours.",
          "  splitcount compare --sessions 4 --seconds 1 --rounds 1 --designs one_row,counter --report compare.html\n"
          "  splitcount --db postgresql://app@localhost/shop compare\n"
          "  splitcount --db mariadb://app@localhost/shop compare --sessions 32\n"
          "  splitcount --db postgresql:service=shop compare --isolation serializable --designs random,session,journal --json",
          declare, read};
}

}  // namespace splitcount::cli
