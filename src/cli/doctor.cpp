// doctor: hot rows in a database that has never heard of us.
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <cli/measured.h>
#include <cli/progress.h>
#include <cli/report.h>
#include <cli/stop.h>
#include <cli/table.h>
#include <cli/verbs.h>

namespace splitcount::cli {
namespace {

constexpr int seconds_default = 5;

std::string watched(const measure::Diagnosis& diagnosis) {
  return fmt::format("{:.1f} s, {}", diagnosis.seconds, counted(diagnosis.looks, "look"));
}

std::string evidence(const measure::Finding& finding, const measure::Diagnosis& diagnosis) {
  std::string text;
  if (finding.rows) text += fmt::format("  rows       {}\n", grouped(*finding.rows));
  text += fmt::format("  updates    {} in {:.1f} s\n", grouped(finding.updates), diagnosis.seconds);
  if (finding.looks_waited > 0) {
    text += fmt::format("  waiting    at {} of {} looks, {:.1f} sessions in the mean, {} at most\n", finding.looks_waited,
                        diagnosis.looks, finding.waiters_mean, finding.waiters_most);
  } else {
    text += "  waiting    nobody was seen waiting\n";
  }
  if (!finding.statement.empty()) text += fmt::format("  statement  {}\n", printable(finding.statement));
  if (!finding.found_in.empty()) text += fmt::format("  statement  in the {}\n", finding.found_in);
  if (finding.calls) text += fmt::format("  ran        {} times, {:.2f} ms each in the mean\n", grouped(*finding.calls), finding.call_ms);
  return text;
}

std::string what_to_do(const measure::Finding& finding, const Session& session) {
  if (finding.is_ours) return "  This is a counter of splitcount with too few slots: define one with more.\n";
  if (!finding.remedy) {
    return "  What is counted up could not be seen. Where nothing is, slots do not help: make the transaction shorter that\n"
           "  updates the row, and update it last.\n";
  }
  const auto& remedy = *finding.remedy;
  std::string text = "  Keep this number in slots:\n";
  text += fmt::format("    {}\n", define_command(session.command(), remedy));
  text += fmt::format("    instead of the statement  {}\n", printable(remedy.add));
  text += fmt::format("    to read                   {}\n", printable(remedy.read));
  text += fmt::format("    to begin with, once       {}\n", printable(remedy.carry));
  for (const auto& caution : remedy.cautions) text += fmt::format("  But {}.\n", caution);
  return text;
}

constexpr std::size_t label_width_max = 60;

/// What was seen as bars: the updates of tables, and who waited with what.
std::string charts(const measure::Diagnosis& diagnosis, const Terminal& terminal) {
  std::string text;
  std::vector<Bar> bars;
  for (const auto& one : diagnosis.tables) {
    bars.push_back({cut_to(printable(one.schema + "." + one.table), label_width_max, terminal) + (one.is_hot ? "  (hot)" : ""), one.updates});
  }
  if (diagnosis.tables_more > 0) {
    bars.push_back({counted(diagnosis.tables_more, "other table") + " together", diagnosis.updates_more});
  }
  if (!bars.empty()) text += bars_table("table", "updates", bars, terminal) + "\n";
  bars.clear();
  for (const auto& one : diagnosis.waits) {
    const auto statement = one.statement.empty() ? "on " + one.schema + "." + one.table + ", statement not to be seen" : one.statement;
    bars.push_back({cut_to(printable(statement), label_width_max, terminal), one.waits});
  }
  if (!bars.empty()) text += bars_table("statement that waited for a row", "waits seen", bars, terminal) + "\n";
  return text;
}

std::string answer(const measure::Diagnosis& diagnosis, const Session& session) {
  const auto& terminal = session.out.terminal();
  std::string text;
  for (const auto& finding : diagnosis.findings) {
    const auto table = printable(finding.schema + "." + finding.table);
    const auto title = finding.column.empty() ? fmt::format("Hot: {}", table)
                                              : fmt::format("Hot: {}, column {}", table, printable(finding.column));
    text += fmt::format("{}\n{}{}\n", terminal.bold(title), evidence(finding, diagnosis), what_to_do(finding, session));
  }
  if (diagnosis.findings.empty() && diagnosis.looks > 0) text += fmt::format("Nothing hot was seen in {}.\n", watched(diagnosis));
  if (!diagnosis.findings.empty()) text += fmt::format("Watched for {}.\n", watched(diagnosis));
  if (const auto seen = charts(diagnosis, terminal); !seen.empty()) text += "\n" + seen;
  for (const auto& sentence : diagnosis.noticed) text += wrapped(fmt::format("Noticed: {}\n", sentence), terminal);
  for (const auto& sentence : diagnosis.unseen) text += wrapped(fmt::format("Not seen: {}\n", sentence), terminal);
  return text;
}

Result<ExitCode> run_doctor(int seconds, const std::optional<std::string>& report, Session& session) {
  if (auto writable = check_report(report); !writable) return fail(std::move(writable).error());
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  measure::DoctorOptions options;
  options.watch = std::chrono::seconds(seconds);
  options.stop = &stop_on_signals();
  ProgressLine line;
  auto diagnosis = measure::look_for_hot_rows(*target, options, [&line, seconds](double passed) {
    if (line.is_due()) line.draw(fmt::format("watching: {:.1f} of {} s", passed, seconds));
  });
  if (!diagnosis) return fail(std::move(diagnosis).error());
  const auto json = diagnosis_json(*diagnosis, session.command(), session.database_name(), target->dialect());
  session.out.print(session.out.json() ? json : answer(*diagnosis, session));
  const bool reported = !report || is_reported(report, page_json("doctor", session, *target, json));
  if (!diagnosis->findings.empty()) return ExitCode::difference;
  if (!reported) return ExitCode::failed;
  if (!diagnosis->stopped) return ExitCode::done;
  Output::note("stopped by a signal before the watch was over");
  return ExitCode::partial;
}

void declare(Command& command) {
  command.option("--seconds", "N", fmt::format("How long to watch, 1 to {}. Default {}. On SQLite there is\nnothing to watch",
                                               grouped(limits::doctor_watch_s_max), seconds_default));
  declare_report(command);
}

Result<Action> read(const Command& command) {
  int seconds = seconds_default;
  if (const auto text = command.value("--seconds")) {
    const auto* end = text->data() + text->size();
    const auto [stop, code] = std::from_chars(text->data(), end, seconds);
    if (code != std::errc{} || stop != end || seconds < 1 || seconds > limits::doctor_watch_s_max) {
      return fail(ErrorCode::invalid_argument, fmt::format("--seconds {} is not right; a whole number from 1 to {} is",
                                                           splitcount::quoted(*text), grouped(limits::doctor_watch_s_max)));
    }
  }
  auto report = read_report(command);
  if (!report) return fail(std::move(report).error());
  return Action([seconds, report = *std::move(report)](Session& session) { return run_doctor(seconds, report, session); });
}

}  // namespace

Verb doctor_verb() {
  return {"doctor", "Looks for hot rows in any database",
          "Watches for a few seconds which rows sessions wait for and which are updated again and again, and names table,\n"
          "column and statement with the evidence and what to do. It only reads, needs nothing of ours in the database, and\n"
          "says what this role could not see. Exit code 3: something hot was found.",
          "  splitcount doctor\n"
          "  splitcount doctor --report doctor.html\n"
          "  splitcount doctor --seconds 30 --json",
          declare, read};
}

}  // namespace splitcount::cli
