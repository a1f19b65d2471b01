// copy: moves counters to another database.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <base/limits.h>
#include <base/text.h>
#include <cli/json.h>
#include <cli/progress.h>
#include <cli/stop.h>
#include <cli/verbs.h>
#include <copy/copy.h>
#include <rule/amount.h>
#include <rule/name.h>

namespace splitcount::cli {
namespace {

struct Request {
  std::optional<std::string> from;
  std::optional<std::string> to;
  copy::Options options{};
};

/// A database that an option names, or that of --db where none does.
struct Place {
  Database database;
  std::string name;
};

Result<Place> open_place(const std::optional<std::string>& given, const Session& session) {
  if (!given) return Place{*session.database, session.database_name()};
  auto database = Database::open(*given);
  if (!database) return fail(std::move(database).error());
  return Place{*std::move(database), printable(*given)};
}

bool did_something(const copy::Report& report) {
  return report.keys_written > 0 || report.ids_written > 0 || report.files_written > 0 || report.complete;
}

std::string work_of(const copy::Report& report) {
  if (report.complete && report.keys == 0) return report.counter + ": was closed here and copied before; there is nothing to do";
  std::string text = fmt::format("{}: {} looked at, {} written", report.counter, counted(report.keys, "key"),
                                 grouped(report.keys_written));
  if (report.ids_written > 0) text += fmt::format(", {}", counted(report.ids_written, "request id"));
  if (report.files_written > 0) text += fmt::format(", {} of files", counted(report.files_written, "position"));
  if (report.error || report.stopped) return text + "; not done";
  if (copy::differs(report)) return text + "; there are differences";
  if (report.complete) return text + "; closed here, and the same at both places";
  return text + "; the same at both places";
}

std::string answer(const std::vector<copy::Report>& reports) {
  std::string text;
  for (const auto& report : reports) {
    text += work_of(report) + "\n";
    for (const auto& note : report.notes) text += fmt::format("Note: {}\n", note);
  }
  return text.empty() ? "no counter is there to be copied" : text;
}

std::string number_of(std::optional<std::int64_t> total) { return total ? grouped(*total) : std::string("none"); }

std::string named_differences(const copy::Report& report) {
  std::vector<std::string> named;
  for (const auto& one : report.differences) {
    named.push_back(fmt::format("{}{} here, {} there", one.key.empty() ? "" : printable(one.key) + ": ", number_of(one.here),
                                number_of(one.there)));
  }
  return fmt::format("{}", fmt::join(named, "; "));
}

void tell_differences(const copy::Report& report) {
  if (report.keys_behind > 0) {
    Output::note(fmt::format("{} was counted in here while it was copied, and differs in {} of {} ({}); run it again with --final, "
                             "which closes it here first",
                             report.counter, grouped(report.keys_behind), counted(report.keys, "key"), named_differences(report)));
  } else if (report.keys_ahead > 0) {
    Output::note(fmt::format("{} holds something of its own there, and differs in {} ({}), which is right only where it is counted "
                             "in there already",
                             report.counter, counted(report.keys_ahead, "key"), named_differences(report)));
  }
  if (report.others_behind > 0) {
    Output::note(fmt::format("{} has {} that are not there as they are here; run it again", report.counter,
                             counted(report.others_behind, "request id or file", "request ids or files")));
  }
}

Result<ExitCode> report_all(const std::vector<copy::Report>& reports, const Place& from, const Place& to, Session& session) {
  session.changed = std::any_of(reports.begin(), reports.end(), did_something);
  const auto* last = reports.empty() ? nullptr : &reports.back();
  if (last != nullptr && last->error && !session.changed && !last->error->outcome_unknown) return fail(*last->error);
  session.out.print(session.out.json() ? copied_json(from.name, to.name, reports) : answer(reports));
  for (const auto& report : reports) tell_differences(report);
  if (last != nullptr && last->error) {
    Output::note(fmt::format("{} is not done, and what was copied stays; run it again for the rest: {}", last->counter,
                             last->error->message));
    return ExitCode::partial;  // also in doubt: the next run finds out what is there
  }
  if (last != nullptr && last->stopped) {
    Output::note(fmt::format("stopped part-way by {}; what was copied stays, run it again for the rest",
                             stop_on_signals().load() ? "a signal" : "--max-seconds"));
    return ExitCode::partial;
  }
  return std::any_of(reports.begin(), reports.end(), copy::differs) ? ExitCode::difference : ExitCode::done;
}

Result<ExitCode> run_copy(const Request& request, Session& session) {
  const auto& stop = stop_on_signals();
  auto from = open_place(request.from, session);
  if (!from) return fail(std::move(from).error());
  auto to = open_place(request.to, session);
  if (!to) return fail(std::move(to).error());
  auto options = request.options;
  options.go_on = [&stop] { return !stop.load(); };
  Result<std::vector<copy::Report>> reports;
  {
    ProgressLine line;
    options.tell = [&line](const copy::Progress& progress) {
      if (line.is_due()) line.draw(fmt::format("{}  {}, {}", progress.counter, progress.doing, grouped(progress.keys)));
    };
    reports = copy::run(from->database, to->database, options);
  }
  if (!reports) return fail(std::move(reports).error());
  return report_all(*reports, *from, *to, session);
}

void declare(Command& command) {
  command.option("--from", "DSN", "The database to copy from. Default: that of --db");
  command.option("--to", "DSN", "The database to copy to. Default: that of --db");
  command.option("--counter", "NAMES", "Only these, with commas between. Default: all");
  command.flag("--final", "Closes the counters at the source, so that nothing is counted\nthere any more, and copies what is missing then");
  command.option("--max-seconds", "N", "Stops after that time; the next run goes on");
}

Result<std::optional<std::string>> read_place(const Command& command, const char* option) {
  const auto text = command.value(option);
  if (!text) return std::optional<std::string>();
  if (text->empty())
    return fail(ErrorCode::config_invalid, fmt::format("{} is empty; it names a database, e.g. {} splitcount.db", option, option));
  if (auto checked = check_no_password(option, *text); !checked) return fail(std::move(checked).error());
  return text;
}

Result<std::vector<std::string>> read_names(const Command& command) {
  std::vector<std::string> names;
  const auto text = command.value("--counter");
  if (!text) return names;
  for (std::size_t at = 0; at <= text->size();) {
    const auto end = std::min(text->find(',', at), text->size());
    names.push_back(text->substr(at, end - at));
    if (auto checked = rule::check_counter_name(names.back()); !checked) return fail(std::move(checked).error());
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      return fail(ErrorCode::invalid_argument, fmt::format("--counter names {} twice", names.back()));
    at = end + 1;
  }
  return names;
}

Result<Action> read(const Command& command) {
  Request request;
  auto from = read_place(command, "--from");
  if (!from) return fail(std::move(from).error());
  auto to = read_place(command, "--to");
  if (!to) return fail(std::move(to).error());
  request.from = *std::move(from);
  request.to = *std::move(to);
  if (!request.from && !request.to)
    return fail(ErrorCode::invalid_argument, "copy goes from one database to another; give the other one with --to, or with --from");
  auto names = read_names(command);
  if (!names) return fail(std::move(names).error());
  request.options.counters = *std::move(names);
  request.options.close = command.has("--final");
  if (const auto text = command.value("--max-seconds")) {
    const auto seconds = rule::parse_whole(*text);
    if (!seconds || *seconds < 1 || *seconds > limits::copy_s_max)
      return fail(ErrorCode::invalid_argument, fmt::format("--max-seconds {} is not a whole number from 1 to {}",
                                                           splitcount::quoted(*text), grouped(limits::copy_s_max)));
    request.options.seconds_max = std::chrono::seconds(*seconds);
  }
  return Action([request = std::move(request)](Session& session) { return run_copy(request, session); });
}

}  // namespace

Verb copy_verb() {
  return {"copy", "Copies counters to another database, of this engine or another",
          "Copies rules, totals, request ids that are still known, and how far files were counted, in short transactions beside\n"
          "writers, and compares key by key at the end (exit 3: there are differences). Run again it copies what has changed,\n"
          "and nothing twice, also after a kill -9; what was counted at the new place meanwhile stays. --final closes the\n"
          "counters at the old place: adds there are then refused with the name of the new one, until `splitcount open`.\n"
          "It reads a page of keys at a time and holds no snapshot meanwhile, so it keeps no old row versions alive.\n"
          "Passwords belong into ~/.pgpass, or one of the two addresses into SPLITCOUNT_DB.",
          "  splitcount copy --to moved.db\n"
          "  splitcount copy --from splitcount.db --to postgresql://app@db.example/shop\n"
          "  splitcount copy --from splitcount.db --to postgresql://app@db.example/shop --final",
          declare, read};
}

}  // namespace splitcount::cli
