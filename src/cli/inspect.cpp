// inspect: the locks that counting holds, who waits for whom, and the pages that slots lie on.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <cli/measured.h>
#include <cli/report.h>
#include <cli/stop.h>
#include <cli/table.h>
#include <cli/verbs.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

using ReportPath = std::optional<std::string>;

/// Says what was seen, and writes its page where one is asked for.
ExitCode tell(std::string_view kind, const std::string& json, const std::string& answer, const ReportPath& report,
              const measure::Target& target, Session& session) {
  session.out.print(session.out.json() ? json : answer);
  if (!report) return ExitCode::done;
  return is_reported(report, page_json(kind, session, target, json)) ? ExitCode::done : ExitCode::failed;
}

// --- locks

std::string locks_answer(const measure::LocksHeld& locks, std::string_view engine, const Terminal& terminal) {
  const auto bars = bars_table("one transaction", locks.is_of_database ? "locks on the database" : "row locks",
                               {{"one counter row, counted in twice", locks.one_row},
                                {"two slots, counted in once each", locks.two_slots}},
                               terminal);
  if (locks.is_of_database) {
    return bars + "\n" +
           wrapped(fmt::format("Both were rolled back. While they were open a second connection that wanted to write was refused:\n"
                               "{} has one writer at a time, whatever rows it writes. So one slot is enough there, and what\n"
                               "helps is many adds in one transaction.",
                               engine),
                   terminal);
  }
  return bars + "\n" +
         wrapped("Both were rolled back. A lock on a row is held until its transaction ends, and whoever wants the same\n"
                 "row waits until then. Adds to two slots hold two locks, so two sessions need not wait for each other.",
                 terminal);
}

Result<ExitCode> run_locks(const ReportPath& report, Session& session) {
  if (auto writable = check_report(report); !writable) return fail(std::move(writable).error());
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  static_cast<void>(stop_on_signals());  // it takes a moment, and its place is removed at the end
  const auto locks = measure::show_locks(*target);
  if (!locks) return fail(locks.error());
  return tell("inspect locks", locks_json(*locks, target->dialect()), locks_answer(*locks, target->traits().name, session.out.terminal()), report, *target,
              session);
}

// --- locks --live

constexpr std::size_t statement_width_min = 20;
constexpr std::string_view gap = "  ";

std::string processes_text(const std::vector<std::int64_t>& processes) {
  std::string text;
  for (const auto process : processes) {
    text += (text.empty() ? "" : " ") + (process == 0 ? std::string("prepared") : std::to_string(process));
  }
  return text;
}

std::string in_one_line(std::string_view statement) {
  std::string line;
  for (const char c : statement) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_blank) line += c;
    if (is_blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string waiters_table(const std::vector<measure::Waiter>& waiters, const Terminal& terminal) {
  if (waiters.empty()) return "nobody waits for a counter\n";
  std::vector<std::vector<std::string>> rows{{"pid", "waits for", "counter", "seconds"}};
  for (const auto& waiter : waiters) {
    rows.push_back({std::to_string(waiter.process), processes_text(waiter.blocked_by), waiter.counter,
                    fmt::format("{:.1f}", waiter.seconds)});
  }
  std::size_t used = 0;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[column].size());
    used += width + gap.size();
  }
  using Align = Table::Align;
  Table table({{"pid", Align::right}, {"waits for"}, {"counter"}, {"seconds", Align::right}, {"statement"}});
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    auto row = rows[i + 1];
    const auto& statement = waiters[i].statement;
    auto text = statement ? printable(in_one_line(*statement)) : std::string("(hidden from this role)");
    if (terminal.width > 0) text = cut_to(text, terminal.width > used + statement_width_min ? terminal.width - used : statement_width_min, terminal);
    row.push_back(std::move(text));
    table.row(std::move(row));
  }
  return table.render(terminal);
}

/// Draws anew each second, until a signal comes or standard output has gone.
Result<ExitCode> watch_waiters(measure::WaitersView& view, Session& session) {
  constexpr std::chrono::milliseconds tick{50};
  const auto& stopped = stop_on_signals();
  while (!stopped) {
    const auto next = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits::live_refresh_ms);
    const auto waiters = view.look();
    if (!waiters) return fail(waiters.error());
    const auto terminal = look_at_terminal();  // it may have been made wider
    session.out.print_raw("\x1b[H\x1b[2J");
    session.out.print(terminal.dim(fmt::format("{}  {}  Ctrl-C ends", session.database_name(), format_instant(now_utc()))));
    session.out.print(waiters_table(*waiters, terminal));
    if (auto written = session.out.flush(); !written) return fail(std::move(written).error());
    while (!stopped && std::chrono::steady_clock::now() < next) std::this_thread::sleep_for(tick);
  }
  return ExitCode::done;
}

Result<ExitCode> run_live(Session& session) {
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  auto view = measure::WaitersView::open(*target);
  if (!view) return fail(std::move(view).error());
  if (!session.out.json() && view->why_none().empty() && isatty(STDOUT_FILENO) != 0) return watch_waiters(*view, session);
  const auto waiters = view->look();
  if (!waiters) return fail(waiters.error());
  if (session.out.json()) {
    session.out.print(waiters_json(*waiters, view->why_none()));
  } else {
    session.out.print(view->why_none().empty() ? waiters_table(*waiters, session.out.terminal()) : view->why_none());
  }
  return ExitCode::done;
}

// --- pages

std::string pages_answer(const measure::SlotPages& pages, const Terminal& terminal) {
  if (pages.slots == 0) return "no slot yet: nothing was added to this key";
  std::string text = fmt::format("{} {} on {} of {} bytes, layout {}\n", counted(pages.slots, "slot"),
                                 pages.slots == 1 ? "lies" : "lie", counted(pages.pages, "page"), grouped(pages.page_bytes),
                                 rule::to_text(pages.layout));
  text += fmt::format("the table has {} bytes", grouped(pages.table_bytes));
  if (pages.index_bytes > 0) text += fmt::format(", and its index {}", grouped(pages.index_bytes));
  std::vector<Bar> bars{{"a slot", pages.slot_bytes}, {"a page", pages.page_bytes}};
  if (pages.layout == Layout::padded) bars.insert(bars.begin() + 1, {"a slot, if it were compact", pages.slot_bytes_compact});
  return text + "\n\n" + bars_table("what it takes", "bytes", bars, terminal);
}

Result<ExitCode> run_pages(const std::string& name, const std::string& key, const ReportPath& report, Session& session) {
  if (auto writable = check_report(report); !writable) return fail(std::move(writable).error());
  // The same sentences as those of `slots`, where there is nothing to look at.
  const auto counter = session.database->counter(name);
  if (!counter) return fail(counter.error());
  if (auto slots = counter->slots(key); !slots) return fail(std::move(slots).error());
  auto target = measure::Target::open(session.dsn.text);
  if (!target) return fail(std::move(target).error());
  const auto pages = measure::look_at_pages(*target, name, key);
  if (!pages) return fail(pages.error());
  return tell("inspect pages", pages_json(*pages), pages_answer(*pages, session.out.terminal()), report, *target, session);
}

void declare(Command& command) {
  command.argument("WHAT", "locks or pages");
  command.argument("COUNTER", "For pages: the counter", 0);
  command.argument("KEY", "For pages: the key, where the counter has one", 0);
  command.flag("--live", "For locks: who waits for whom on counters now; at a\nterminal again each second, until Ctrl-C");
  declare_report(command);
}

Result<Action> read_locks(const Command& command) {
  if (command.arguments().size() > 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is one word too many: splitcount inspect locks [--live]", splitcount::quoted(command.arguments()[1])));
  }
  auto report = read_report(command);
  if (!report) return fail(std::move(report).error());
  if (!command.has("--live")) return Action([report = *std::move(report)](Session& session) { return run_locks(report, session); });
  if (*report) return fail(ErrorCode::invalid_argument, "--live looks at the moment, and --report keeps it; give one of them");
  return Action(run_live);
}

Result<Action> read_pages(const Command& command) {
  if (command.has("--live"))
    return fail(ErrorCode::invalid_argument, "--live is for locks: splitcount inspect locks --live");
  if (command.arguments().size() < 2)
    return fail(ErrorCode::invalid_argument, "COUNTER is missing: splitcount inspect pages COUNTER [KEY]");
  auto name = read_name(command, 1);
  if (!name) return fail(std::move(name).error());
  auto keys = read_keys(command, 2);
  if (!keys) return fail(std::move(keys).error());
  auto report = read_report(command);
  if (!report) return fail(std::move(report).error());
  return Action([name = *std::move(name), key = keys->empty() ? std::string() : keys->front(), report = *std::move(report)](
                    Session& session) { return run_pages(name, key, report, session); });
}

Result<Action> read(const Command& command) {
  const auto& what = command.arguments().front();
  if (what == "locks") return read_locks(command);
  if (what == "pages") return read_pages(command);
  return fail(ErrorCode::invalid_argument,
              fmt::format("there is nothing to inspect by the name {}; locks and pages are right", splitcount::quoted(what)));
}

}  // namespace

Verb inspect_verb() {
  return {"inspect", "Shows locks that counting holds, and pages of slots",
          "locks shows, in tables of its own that it removes, how many locks a transaction holds that counts twice in one\n"
          "row, and one that counts in two slots. locks --live shows who waits for whom on counters of this database now.\n"
          "pages shows on how many pages of the database a key's slots lie, and what a slot takes.",
          "  splitcount inspect locks --report locks.html\n"
          "  splitcount inspect locks --live\n"
          "  splitcount inspect pages page_views /home\n"
          "  splitcount inspect pages prizes_won --json",
          declare, read};
}

}  // namespace splitcount::cli
