#include <cli/count_report.h>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/text.h>
#include <cli/table.h>

namespace splitcount::cli {
namespace {

std::string lines(std::uint64_t number) { return counted(static_cast<std::int64_t>(number), "line"); }

std::string were(std::uint64_t number) { return number == 1 ? "is" : "are"; }

/// What was known of the file from before; empty for a new one.
std::string news_of(const intake::CountReport& report) {
  if (!report.known) return {};
  const auto before = lines(report.lines_before);
  if (report.resumed_again) return fmt::format("the --again that was stopped is finished: {} counted once more", lines(report.lines_read));
  if (report.bytes_before == 0 && report.lines_read > 0) return fmt::format("counted once more: {}", lines(report.lines_read));
  if (report.lines_read == 0)
    return fmt::format("counted before: nothing new after its {}; --again counts {} once more", before,
                       report.lines_before == 1 ? "it" : "them");
  return fmt::format("known: its first {} {} in from before; {} {} new", before, were(report.lines_before),
                     lines(report.lines_read), were(report.lines_read));
}

std::string about_file(const CountSummary::File& file) {
  const auto& report = file.report;
  const auto name = file.path == "-" ? std::string("standard input") : printable(file.path);
  auto news = news_of(report);
  if (news.empty()) news = fmt::format("{} read", lines(report.lines_read));
  std::string text = fmt::format("{}: {}\n", name, news);
  if (report.bytes_unfinished > 0)
    text += fmt::format("{}: an unfinished last line of {} waits for the next run\n", name,
                        counted(static_cast<std::int64_t>(report.bytes_unfinished), "byte"));
  if (report.again_unfinished)
    text += fmt::format("{}: an earlier --again was stopped part-way; count it with --again to finish that\n", name);
  return text;
}

std::string numbers(const CountSummary& summary) {
  const auto number = [](std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); };
  std::string text = fmt::format("  lines read        {:>15}\n  lines counted     {:>15}\n  lines rejected    {:>15}\n",
                                 number(summary.lines_read()), number(summary.lines_counted()),
                                 number(summary.lines_rejected()));
  std::map<std::string, std::uint64_t> reasons;
  for (const auto& file : summary.files)
    for (const auto& [reason, count] : file.report.rejects) reasons[reason] += count;
  for (const auto& [reason, count] : reasons) text += fmt::format("    {:>27}  {}\n", number(count), reason);
  text += fmt::format("  distinct keys     {:>15}\n", grouped(summary.keys));
  if (summary.total)
    text += fmt::format("  total             {:>15}  as the database has it\n", grouped(summary.total->total));
  if (summary.lines_read() > 0) text += fmt::format("  lines per second  {:>15}\n", grouped(summary.lines_per_second()));
  return text;
}

std::string next_steps(const CountSummary& summary, const Session& session) {
  const auto command = session.command();
  std::string text = "Next:\n";
  if (!summary.top.empty() && summary.top.front().key) {
    const auto& key = *summary.top.front().key;
    text += fmt::format("  {} total {} {}{}\n", command, summary.counter, key.starts_with('-') ? "-- " : "", shell_word(key));
  }
  text += fmt::format("  {} top {} -n 20\n", command, summary.counter);
  text += fmt::format("  {} describe {}\n", command, summary.counter);
  return text;
}

}  // namespace

std::string count_report(const CountSummary& summary, const Session& session) {
  const auto& terminal = session.out.terminal();
  std::string text;
  for (const auto& file : summary.files) text += about_file(file);
  text += fmt::format("\n{} in {}\n", terminal.bold(summary.counter), session.database_name());
  text += numbers(summary);
  if (!summary.top.empty()) text += "\n" + totals_table(summary.top, summary.key_column, terminal);
  return text + "\n" + next_steps(summary, session);
}

}  // namespace splitcount::cli
