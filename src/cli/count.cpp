// count: the lines of log files, each once.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <splitcount/combiner.h>

#include <base/limits.h>
#include <base/text.h>
#include <cli/count_report.h>
#include <cli/json.h>
#include <cli/progress.h>
#include <cli/stop.h>
#include <cli/verbs.h>
#include <intake/count.h>
#include <rule/amount.h>
#include <rule/name.h>
#include <rule/pick.h>

namespace splitcount::cli {
namespace {

constexpr const char* counter_default = "page_views";
constexpr int top_rows = 10;
/// A group waits this long for a database that others have locked, before the run stops part-way.
constexpr std::chrono::milliseconds group_wait_ms_max{60'000};

struct Request {
  std::string counter = counter_default;
  intake::CountOptions options{};
  std::vector<std::string> paths;
};

// --- What is wrong with a file is said before anything is created

Result<void> check_readable(const std::string& path) {
  if (path == "-") return {};
  const auto unreadable = [&](std::string_view why) {
    return fail(ErrorCode::file_unreadable, fmt::format("{} cannot be read ({})", splitcount::quoted(path, 200), why));
  };
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return unreadable(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return unreadable("it is a directory; a file is right, or - for standard input");
  // A pipe is not opened twice: its writer would lose its reader.
  if (access(path.c_str(), R_OK) != 0) return unreadable(std::strerror(errno));
  return {};
}

/// Rejects are appended, and must not land in a log or in a database.
Result<void> check_rejects(const Request& request) {
  const auto& path = request.options.rejects_path;
  if (path.empty()) return {};
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::file_unreadable, fmt::format("--rejects {} {}", splitcount::quoted(path, 200), why));
  };
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return refuse(fmt::format("cannot be written ({})", std::strerror(errno)));
  struct stat rejects {};
  const int known = fstat(descriptor, &rejects);
  close(descriptor);
  if (known != 0) return refuse("cannot be looked at");
  for (const auto& input : request.paths) {
    struct stat info {};
    if (input != "-" && stat(input.c_str(), &info) == 0 && info.st_dev == rejects.st_dev && info.st_ino == rejects.st_ino)
      return refuse("is a file that is to be counted; name another");
  }
  constexpr std::string_view database_begins = "SQLite format 3";
  std::array<char, database_begins.size()> begins{};
  if (S_ISREG(rejects.st_mode) && std::ifstream(path, std::ios::binary).read(begins.data(), begins.size()) &&
      std::string_view(begins.data(), begins.size()) == database_begins)
    return refuse("is a database; name another file");
  return {};
}

// --- The run

Result<Counter> find_or_define(const Request& request, Session& session, CountSummary& summary) {
  auto counter = session.database->counter(request.counter);
  if (counter) return counter;
  const auto code = counter.error().code;
  if (code != ErrorCode::unknown_counter && code != ErrorCode::not_installed && code != ErrorCode::database_unavailable)
    return counter;
  RuleOptions options;
  options.key = std::string(intake::to_text(request.options.field));
  Defined what;
  counter = session.database->define(request.counter, options, {}, &what);
  if (!counter) return counter;
  summary.defined = what.created;
  session.changed = what.created;
  if (what.created && !session.out.json())
    Output::note(fmt::format("the counter {} was not there; it is defined now, with the key {}", request.counter, *options.key));
  return counter;
}

/// Counters into which no line can be counted are refused before the first one.
Result<void> check_countable(const Counter& counter, intake::Field field) {
  const Rule rule = counter.rule();
  if (!rule.key)
    return fail(ErrorCode::key_invalid, fmt::format("{} has no key, and count needs one; name another counter with --counter, "
                                                    "and it is defined if it is missing",
                                                    counter.name()));
  // A counter that is keyed by another field of a log would mix two kinds of keys, which nobody can part again.
  const auto keyed_by = intake::parse_field(*rule.key);
  if (keyed_by && *keyed_by != field)
    return fail(ErrorCode::key_invalid,
                fmt::format("{0} counts by {1}, and --key {2} would mix two kinds of keys in it; give --key {1}, or name another "
                            "counter with --counter, and it is defined if it is missing",
                            counter.name(), *rule.key, intake::to_text(field)));
  Add add;
  add.key = "/";
  return rule::check_add(counter.name(), rule, add);
}

void count_files(const Request& request, const Counter& counter, Combiner& combiner, CountSummary& summary) {
  for (const auto& path : request.paths) {
    ProgressBar bar(path == "-" ? "standard input" : printable(path));
    auto options = request.options;
    options.stop = &stop_on_signals();
    options.progress = [&bar](const intake::Progress& progress) { bar.show(progress); };
    summary.files.push_back({path, intake::count_file(combiner, counter, path, options)});
    const auto& report = summary.files.back().report;
    summary.error = report.error;
    summary.stopped = report.stopped;
    if (report.error || report.stopped) return;
    if (stop_on_signals().load() && summary.files.size() < request.paths.size()) {
      summary.stopped = true;
      return;
    }
  }
}

/// When the counter was made; nothing where it is not there (any more).
Result<std::optional<Instant>> made_at(Session& session, const std::string& counter) {
  const auto counters = session.database->list();
  if (!counters) return fail(counters.error());
  for (const auto& one : *counters)
    if (one.name == counter) return std::optional(one.created_at);
  return std::optional<Instant>{};
}

/// A counter that was dropped took everything with it that this run had committed, and left streams that are not where they
/// were, so what stopped the run may say something else.
Result<void> check_still_there(Session& session, const std::string& counter, std::optional<Instant> begun_with) {
  const auto now = made_at(session, counter);
  if (!now || *now == begun_with) return {};
  return fail(ErrorCode::unknown_counter,
              fmt::format("{} was dropped meanwhile, and what was counted into it has gone with it; count again to begin anew", counter));
}

/// The database's own word on what is there now.
Result<void> read_back(const Counter& counter, CountSummary& summary) {
  auto total = counter.total();
  // Each key may be within 64 bits and their sum beyond; the report then has no total.
  if (!total && total.error().code != ErrorCode::out_of_range) return fail(std::move(total).error());
  if (total) summary.total = *std::move(total);
  const auto keys = counter.keys();
  if (!keys) return fail(keys.error());
  summary.keys = *keys;
  auto top = counter.top(top_rows);
  if (!top) return fail(std::move(top).error());
  summary.top = *std::move(top);
  return {};
}

void answer(const CountSummary& summary, Session& session) {
  session.out.print(session.out.json() ? summary_json(summary) : count_report(summary, session));
  if (summary.lines_rejected() > 0 && summary.lines_counted() == 0) {
    Output::note(fmt::format("no line was counted, all were rejected for the reasons above; --rejects FILE keeps rejected "
                             "lines, --key line counts whole lines of any text, and {} define {} KEY... adds keys to a counter whose "
                             "missing is error",
                             session.command(), summary.counter));
  }
  if (summary.error) {
    Output::note(fmt::format("stopped part-way, and what is reported is committed: {}", summary.error->message));
  } else if (summary.stopped) {
    Output::note("stopped part-way by a signal; what is reported is committed, run it again for the rest");
  }
}

Result<ExitCode> run_count(const Request& request, Session& session) {
  (void)stop_on_signals();  // listens from here on
  for (const auto& path : request.paths)
    if (auto checked = check_readable(path); !checked) return fail(std::move(checked).error());
  if (auto checked = check_rejects(request); !checked) return fail(std::move(checked).error());
  CountSummary summary;
  summary.counter = request.counter;
  summary.field = intake::to_text(request.options.field);
  auto counter = find_or_define(request, session, summary);
  if (!counter) return fail(std::move(counter).error());
  if (auto checked = check_countable(*counter, request.options.field); !checked) return fail(std::move(checked).error());
  summary.key_column = counter->rule().key.value_or("");
  const auto begun_with = made_at(session, request.counter);
  if (!begun_with) return fail(begun_with.error());
  const auto started = std::chrono::steady_clock::now();
  {
    Combiner::Limits limits;
    limits.wait_ms_max = group_wait_ms_max;
    auto combiner = Combiner::open(*session.database, limits);
    if (!combiner) return fail(std::move(combiner).error());
    count_files(request, *counter, *combiner, summary);
  }
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  session.changed = session.changed || summary.lines_read() > 0;
  if (summary.error) {
    if (auto there = check_still_there(session, request.counter, *begun_with); !there) return fail(std::move(there).error());
  }
  const bool in_doubt = summary.error && summary.error->outcome_unknown;
  if (summary.error && summary.lines_read() == 0 && !summary.defined && !in_doubt) return fail(*summary.error);
  if (auto read = read_back(*counter, summary); !read && !summary.error) summary.error = std::move(read).error();
  answer(summary, session);
  return summary.error || summary.stopped ? ExitCode::partial : ExitCode::done;
}

void declare(Command& command) {
  command.argument("FILE", "Logs, plain or .gz (told by their bytes), or - for standard input", 1, static_cast<std::size_t>(-1));
  command.option("--counter", "NAME", "The counter; it is defined if it is missing. Default page_views");
  command.option("--key", "FIELD",
                 "What is counted: target (as it stands, default), path\n(without query, %-encoding of plain characters "
                 "undone),\nhost, status, referer, agent, line");
  command.option("--format", "WORD", "auto (default), combined, common, lines");
  command.option("--sessions", "N",
                 "How many work at once. Default: the cores. On SQLite,\nwhich has one writer, they parse and one thread writes");
  command.option("--rejects", "FILE", "Appends each rejected line to FILE with its reason");
  command.flag("--again", "Counts once more what was counted before");
}

Result<void> read_words(const Command& command, Request& request) {
  if (const auto name = command.value("--counter")) request.counter = *name;
  if (auto checked = rule::check_counter_name(request.counter); !checked) return checked;
  if (const auto text = command.value("--key")) {
    auto field = intake::parse_field(*text);
    if (!field) return fail(std::move(field).error());
    request.options.field = *field;
  }
  if (const auto text = command.value("--format")) {
    auto format = intake::parse_format(*text);
    if (!format) return fail(std::move(format).error());
    request.options.format = *format;
  }
  const bool whole_lines = request.options.format == intake::Format::lines;
  if (whole_lines && !command.value("--key")) request.options.field = intake::Field::line;
  if (whole_lines && request.options.field != intake::Field::line)
    return fail(ErrorCode::invalid_argument, fmt::format("--format lines has no {}; its only key is --key line",
                                                         intake::to_text(request.options.field)));
  return {};
}

Result<Action> read(const Command& command) {
  Request request;
  if (auto words = read_words(command, request); !words) return fail(std::move(words).error());
  if (const auto text = command.value("--sessions")) {
    const auto sessions = rule::parse_whole(*text);
    if (!sessions || *sessions < 1 || *sessions > limits::connections_max)
      return fail(ErrorCode::invalid_argument, fmt::format("--sessions {} is not a whole number from 1 to {}",
                                                           splitcount::quoted(*text), limits::connections_max));
    request.options.parsers = static_cast<int>(*sessions);
  }
  if (const auto path = command.value("--rejects")) {
    if (path->empty() || *path == "-")
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--rejects {} names no file; right is e.g. --rejects rejects.txt", splitcount::quoted(*path)));
    request.options.rejects_path = *path;
  }
  request.options.again = command.has("--again");
  request.paths = command.arguments();
  for (const auto& path : request.paths)
    if (path.empty()) return fail(ErrorCode::invalid_argument, "a file's name is empty; - is standard input");
  return Action([request = std::move(request)](Session& session) { return run_count(request, session); });
}

}  // namespace

Verb count_verb() {
  return {"count", "Counts the lines of log files, each once",
          "Counts the lines of access logs, or any lines, by one of their fields. Each line counts once: the position in\n"
          "the file is committed with its counts, so a run that was killed goes on where it stopped, a file that has grown\n"
          "counts its new lines, and an unchanged one counts nothing. A file is known by its bytes, not by its name, also\n"
          "renamed or gzipped. Lines that cannot be read are rejected and tallied by reason; an unfinished last line waits\n"
          "for the next run.",
          "  splitcount count access.log\n"
          "  splitcount count /var/log/nginx/access.log* --counter page_views --key path\n"
          "  splitcount count access.log --counter page_views --key target --sessions 2\n"
          "  zcat old.gz | splitcount count - --counter hosts --key host --rejects rejects.txt",
          declare, read};
}

}  // namespace splitcount::cli
