// advise: how many slots, and which pick.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <cli/measured.h>
#include <cli/report.h>
#include <cli/table.h>
#include <cli/trial_options.h>
#include <cli/verbs.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

constexpr int seconds_default = 2;
constexpr int rounds_default = 5;

struct Request {
  TrialRequest trial;
  std::optional<Pick> pick;
};

std::int64_t rate(const measure::Measured& one) {
  return static_cast<std::int64_t>(measure::spread_of(one.adds_per_second).median);
}

/// A bar for each step, and a mark where more stop helping.
std::string curve_of(const measure::TrialResult& result, std::string_view mark_at, const Terminal& terminal) {
  Table table({{"design"}, {"adds/s", Table::Align::right}, {"of the limit", Table::Align::right}, {"waited", Table::Align::right}, {""}});
  std::int64_t largest = 0;
  for (const auto& one : result.designs) largest = std::max(largest, rate(one));
  for (const auto& one : result.designs) {
    const auto mark = one.design.name == mark_at ? "  <- this one" : "";
    table.row({one.design.rule ? one.design.what : "limit", grouped(rate(one)),
               spread_text(one.of_limit, result.rounds),
               fmt::format("{:.1f} %", one.share_waited * 100), bar(rate(one), largest, terminal) + mark});
  }
  return table.render(terminal);
}

/// The design of `result` that has the rule which is advised.
std::string advised_in(const measure::TrialResult& result, const measure::Advice& advice) {
  if (!advice.sure) return {};
  for (const auto& one : result.designs) {
    if (one.design.adds == 1 && one.design.rule && *one.design.rule == advice.rule) return one.design.name;
  }
  // The one of the curve that the other picks were tried with.
  for (const auto& one : result.designs) {
    if (one.design.rule && one.design.slots == advice.rule.slots) return one.design.name;
  }
  return {};
}

std::string answer(const TrialReport& report, const measure::Advice& advice, const Terminal& terminal) {
  auto text = fmt::format("{}, {}, {} of {:g} s, {}\n\n{}", engine_line(report), counted(report.options.sessions, "session"),
                          counted(static_cast<std::int64_t>(report.result.rounds), "round"),
                          std::chrono::duration<double>(report.options.turn).count(),
                          report.options.insert_too ? "an insert and its count" : "a count alone",
                          curve_of(advice.curve, advised_in(advice.curve, advice), terminal));
  if (!advice.picks.designs.empty()) {
    text += fmt::format("\nOther picks and layouts, {} slots:\n\n{}", advice.steps[advice.knee.at],
                        curve_of(advice.picks, advised_in(advice.picks, advice), terminal));
  }
  text += one_round_text(report.result.rounds) + "\n" + wrapped(advice.sentence + ".\n", terminal);
  if (advice.sure) text += fmt::format("\n  {}\n", define_command(report, advice));
  return text;
}

Result<ExitCode> run_advise(const Request& request, Session& session) {
  if (auto writable = check_report(request.trial.report); !writable) return fail(std::move(writable).error());
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  auto report = report_of(request.trial, *target, session);
  const auto steps = measure::steps_for(request.pick.value_or(Pick::session), report.options.sessions).size();
  const std::size_t designs = target->traits().one_writer ? 5 : steps + (request.pick ? 1 : 7);
  auto advice = with_progress(report, designs, [&](const auto& tell) { return measure::advise(*target, report.options, request.pick, tell); });
  if (!advice) return fail(std::move(advice).error());
  if (advice->stopped) {
    Output::note("stopped before there was anything to go by; the trial's tables are removed");
    return ExitCode::partial;
  }
  report.result = advice->curve;
  const auto json = advise_json(report, *advice);
  session.out.print(session.out.json() ? json : answer(report, *advice, session.out.terminal()));
  const bool reported = is_reported(request.trial.report, json);
  for (const auto* result : {&advice->curve, &advice->picks}) {
    const auto wrong = measure::wrong_total(*result);
    if (!wrong) continue;
    Output::note(*wrong);
    return ExitCode::difference;
  }
  return reported ? ExitCode::done : ExitCode::failed;
}

void declare(Command& command) {
  declare_trial(command, seconds_default, rounds_default);
  command.option("--pick", "WORD",
                 "Searches the slots of this pick: session, spread, random,\nfree, value (with prime slot counts). Without it: of "
                 "session,\nand the other picks and layouts are tried with what is found");
}

Result<Action> read(const Command& command) {
  Request request;
  auto trial = read_trial(command, seconds_default, rounds_default);
  if (!trial) return fail(std::move(trial).error());
  request.trial = *std::move(trial);
  if (const auto text = command.value("--pick")) {
    auto pick = rule::parse_pick(*text);
    if (!pick) {  // without the one that is not taken here
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--pick {} is not right; session, spread, random, free and value are", splitcount::quoted(*text)));
    }
    if (*pick == Pick::request) {
      return fail(ErrorCode::invalid_argument,
                  "--pick request takes its slot from the request id, as random does; --pick random tells as much");
    }
    request.pick = *pick;
  }
  return Action([request](Session& session) { return run_advise(request, session); });
}

}  // namespace

Verb advise_verb() {
  return {"advise", "Finds how many slots, and which pick",
          "Tries slot counts with many sessions at once on this database, shows the curve, and gives the define command to copy.\n"
          "More slots are taken only where they bring a tenth or more, and only where each half of the rounds says the same\n"
          "within a step; else it says that the machine is too noisy to tell. It works in tables of its own and removes them.",
          "  splitcount advise --sessions 4 --seconds 1 --rounds 1 --report advice.html\n"
          "  splitcount --db postgresql://app@localhost/shop advise\n"
          "  splitcount --db mariadb://app@localhost/shop advise --sessions 32\n"
          "  splitcount --db postgresql:service=shop advise --pick value --json",
          declare, read};
}

}  // namespace splitcount::cli
