#include <cli/trial_options.h>

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <cli/report.h>
#include <cli/stop.h>
#include <measure/machine.h>

namespace splitcount::cli {
namespace {

constexpr int sessions_default = 64;
constexpr int sessions_one_writer = 8;  // more only wait longer for the one before

/// Digits alone, from 1 to `most`.
Result<int> read_number(const Command& command, std::string_view name, int otherwise, int most) {
  const auto text = command.value(name);
  if (!text) return otherwise;
  int number = 0;
  const auto* end = text->data() + text->size();
  const auto [stop, code] = std::from_chars(text->data(), end, number);
  if (code == std::errc{} && stop == end && number >= 1 && number <= most) return number;
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} {} is not right; a whole number from 1 to {} is", name, quoted(*text), grouped(most)));
}

Result<std::string> read_isolation(const Command& command) {
  const auto text = command.value("--isolation");
  if (!text) return std::string();
  if (*text == "read-committed") return std::string("read committed");
  if (*text == "repeatable-read") return std::string("repeatable read");
  if (*text == "serializable") return *text;
  return fail(ErrorCode::invalid_argument,
              fmt::format("--isolation {} is not right; read-committed, repeatable-read and serializable are", quoted(*text)));
}

Result<bool> read_work(const Command& command) {
  const auto text = command.value("--work");
  if (!text || *text == "insert+count") return true;
  if (*text == "count") return false;
  return fail(ErrorCode::invalid_argument, fmt::format("--work {} is not right; insert+count and count are", quoted(*text)));
}

std::string duration_text(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  return seconds < 100 ? fmt::format("{} s", seconds) : fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

}  // namespace

int TrialRequest::sessions(const measure::Target& target) const {
  return sessions_given.value_or(target.traits().one_writer ? sessions_one_writer : sessions_default);
}

void declare_trial(Command& command, int seconds, int rounds) {
  command.option("--sessions", "N", "How many count at once. Default 64; on SQLite 8");
  command.option("--seconds", "N", fmt::format("Of each turn of a design. Default {}", seconds));
  command.option("--rounds", "N", fmt::format("Turns of each design; the designs take turns. Default {}", rounds));
  command.option("--work", "WORD", "insert+count: each add inserts a row in the same transaction\n(default); count: it does not");
  command.option("--isolation", "LEVEL", "read-committed (default), repeatable-read, serializable;\nnot on SQLite, which has one");
  declare_report(command);
}

Result<TrialRequest> read_trial(const Command& command, int seconds_otherwise, int rounds_otherwise) {
  TrialRequest request;
  if (command.has("--sessions")) {
    const auto sessions = read_number(command, "--sessions", sessions_default, limits::trial_sessions_max);
    if (!sessions) return fail(sessions.error());
    request.sessions_given = *sessions;
  }
  const auto seconds = read_number(command, "--seconds", seconds_otherwise, limits::trial_turn_s_max);
  if (!seconds) return fail(seconds.error());
  request.turn = std::chrono::seconds(*seconds);
  const auto rounds = read_number(command, "--rounds", rounds_otherwise, limits::trial_rounds_max);
  if (!rounds) return fail(rounds.error());
  request.rounds = *rounds;
  const auto work = read_work(command);
  if (!work) return fail(work.error());
  request.insert_too = *work;
  auto isolation = read_isolation(command);
  if (!isolation) return fail(std::move(isolation).error());
  request.isolation = *std::move(isolation);
  auto report = read_report(command);
  if (!report) return fail(std::move(report).error());
  request.report = *std::move(report);
  return request;
}

TrialReport report_of(const TrialRequest& request, const measure::Target& target, const Session& session) {
  TrialReport report;
  report.command = session.command_line;
  report.database = session.database_name();
  report.engine = target.dialect();
  report.options.sessions = request.sessions(target);
  report.options.turn = request.turn;
  report.options.rounds = request.rounds;
  report.options.insert_too = request.insert_too;
  report.options.isolation = request.isolation;
  report.options.stop = &stop_on_signals();
  const std::string reference = target.traits().one_writer ? "serializable" : "read committed";
  report.isolation = request.isolation.empty() ? reference : request.isolation;
  return report;
}

std::string estimate_text(const TrialReport& report, std::size_t designs) {
  return fmt::format("{}, {} each, {}: about {}", counted(static_cast<std::int64_t>(designs), "design"),
                     counted(report.options.rounds, "turn"), counted(report.options.sessions, "session"),
                     duration_text(measure::estimate(report.options, designs)));
}

std::string progress_text(const measure::TrialProgress& progress) {
  return fmt::format("turn {} of {}: {}", progress.turns_done + 1, progress.turns_total, progress.design);
}

std::string engine_line(const TrialReport& report) {
  std::string version;
  for (const auto& [name, value] : report.result.settings) {
    if (name.ends_with("version")) version = value;
  }
  return fmt::format("{} {}, {}", report.engine, version, counted(measure::this_machine().processors, "processor"));
}

std::string spread_text(const measure::Spread& spread, std::size_t rounds) {
  if (rounds == 1) return fmt::format("{:.2f}", spread.median);
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", spread.median, spread.least, spread.most);
}

std::string one_round_text(std::size_t rounds) {
  return rounds == 1 ? "\nOne round: another one may say something else; --rounds 3 shows by how much.\n" : "";
}

std::string milliseconds(std::uint32_t microseconds) {
  const double ms = static_cast<double>(microseconds) / 1e3;
  return ms < 10 ? fmt::format("{:.2f}", ms) : fmt::format("{:.0f}", ms);
}

}  // namespace splitcount::cli
