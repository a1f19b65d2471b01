#include <measure/doctor.h>

#include <algorithm>
#include <array>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <engine/engine.h>
#include <engine/statements.h>
#include <measure/cells.h>
#include <measure/increment.h>
#include <measure/remedy.h>
#include <measure/watch.h>

namespace splitcount::measure {
namespace {

using Clock = std::chrono::steady_clock;
using engine::Placeholder;
using engine::Row;

constexpr std::chrono::seconds answer_max{30};
constexpr std::int64_t few_rows = 100;
constexpr std::int64_t updates_min = 100;        // during the watch, to be looked at
constexpr double row_updates_per_s_min = 50;     // of each row, where nobody was seen waiting
constexpr double earlier_per_row_min = 10'000;   // updates before the watch, to be mentioned
constexpr std::size_t tables_looked_at_max = 50;
constexpr std::size_t texts_max = 1'000;
constexpr std::size_t shown_max = 10;            // of tables that were updated, and of statements that waited

struct TableStatistics {
  std::string id;
  std::string schema;
  std::string name;
  std::string quoted;
  std::int64_t updates = 0;  // so far
  std::int64_t live = 0;     // by the statistics
  bool is_ours = false;
};

struct StatementSeen {
  std::int64_t calls = 0;
  double ms = 0;
  std::string text;
};

/// A statement that counts, with where it was seen.
struct Source {
  Increment increment;
  std::string text;
  std::string found_in;
};

class Doctor {
 public:
  Doctor(engine::Engine& engine, const DoctorOptions& options) : engine_(engine), options_(options) {}
  Result<Diagnosis> run(const std::function<void(double)>& tell);

 private:
  Result<std::vector<Row>> ask(std::string_view name, std::span<const Placeholder> values = {},
                               std::span<const std::string> bound = {});
  Result<void> open();
  Result<std::map<std::int64_t, TableStatistics>> read_tables();
  std::map<std::string, StatementSeen> read_statements();
  Result<void> look();
  Result<void> watch(const std::function<void(double)>& tell);
  Result<void> judge(const std::map<std::int64_t, TableStatistics>& before);
  std::optional<std::int64_t> count_rows(const TableStatistics& table);
  std::optional<Finding> judge_table(std::int64_t id, const TableStatistics& table, std::int64_t updates);
  void notice(const TableStatistics& table, const TableWaits* waits, std::int64_t updates_before);
  bool name_statement(Finding& finding, std::int64_t id, const TableStatistics& table);
  std::optional<Source> find_source(std::int64_t id, const TableStatistics& table);
  void note_waits(const TableStatistics& table, const TableWaits& waits);
  void leave_the_busiest();
  void notice_triggers();

  engine::Engine& engine_;
  const DoctorOptions& options_;
  std::unique_ptr<engine::Console> console_;
  Watch watch_;
  std::map<std::string, int> running_;
  std::map<std::string, StatementSeen> statements_;  // what they did during the watch
  std::vector<Row> bodies_;
  Diagnosis diagnosis_;
};

Result<std::vector<Row>> Doctor::ask(std::string_view name, std::span<const Placeholder> values,
                                     std::span<const std::string> bound) {
  console_->set_deadline(deadline_in(answer_max));
  return console_->ask(engine::fill(engine::statement(engine_.dialect(), name), values), bound);
}

Result<void> Doctor::open() {
  auto console = engine_.console(deadline_in(answer_max));
  if (!console) return fail(std::move(console.error()));
  console_ = *std::move(console);
  if (auto entered = ask("doctor_enter"); !entered) return fail(std::move(entered.error()));
  auto unseen = ask("doctor_unseen");
  if (!unseen) return fail(std::move(unseen.error()));
  for (const auto& row : *unseen) diagnosis_.unseen.push_back(row[0].value_or(""));
  auto bodies = ask("doctor_bodies");
  if (!bodies) return fail(std::move(bodies.error()));
  bodies_ = *std::move(bodies);
  return {};
}

Result<std::map<std::int64_t, TableStatistics>> Doctor::read_tables() {
  auto rows = ask("doctor_tables");
  if (!rows) return fail(std::move(rows.error()));
  std::map<std::int64_t, TableStatistics> tables;
  for (const auto& row : *rows) {
    tables[number_of(row[0])] = {row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or(""),
                                 number_of(row[4]),   number_of(row[5]),   row[6] == "t"};
  }
  return tables;
}

/// None where the server keeps no such statistics, or this role may not read them.
std::map<std::string, StatementSeen> Doctor::read_statements() {
  std::map<std::string, StatementSeen> statements;
  const auto schema = ask("doctor_statements_schema");
  if (!schema || schema->empty()) return statements;
  const std::array<Placeholder, 1> place{Placeholder{"schema", schema->front()[0].value_or("")}};
  const auto rows = ask("doctor_statements", place);
  if (!rows) {
    const auto sentence = fmt::format("how often each statement ran and how long it took: {}", rows.error().message);
    if (std::find(diagnosis_.unseen.begin(), diagnosis_.unseen.end(), sentence) == diagnosis_.unseen.end()) {
      diagnosis_.unseen.push_back(sentence);
    }
    return statements;
  }
  for (const auto& row : *rows) statements[row[0].value_or("")] = {number_of(row[1]), real_of(row[2]), row[3].value_or("")};
  return statements;
}

Result<void> Doctor::look() {
  auto rows = ask("doctor_waits");
  if (!rows) return fail(std::move(rows.error()));
  std::vector<RowWait> waits;
  for (const auto& row : *rows) {
    RowWait wait{number_of(row[0]), std::nullopt, row[3].value_or(""), row[4].value_or("")};
    if (row[1]) wait.row = {number_of(row[1]), number_of(row[2])};
    waits.push_back(std::move(wait));
  }
  watch_.look(waits);
  auto running = ask("doctor_running");
  if (!running) return fail(std::move(running.error()));
  for (const auto& row : *running) {
    const auto& text = row[0].value_or("");
    if (running_.size() < texts_max || running_.contains(text)) ++running_[text];
  }
  return {};
}

Result<void> Doctor::watch(const std::function<void(double)>& tell) {
  const auto before = read_statements();
  const auto begun = Clock::now();
  const auto seconds = [&begun] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
  for (auto next = begun; Clock::now() - begun < options_.watch; std::this_thread::sleep_until(next)) {
    diagnosis_.stopped = options_.stop != nullptr && options_.stop->load();
    if (diagnosis_.stopped) break;
    next = std::max(next, Clock::now() - std::chrono::milliseconds(limits::doctor_look_ms)) +
           std::chrono::milliseconds(limits::doctor_look_ms);
    if (tell) tell(seconds());
    if (auto looked = look(); !looked) return looked;
  }
  diagnosis_.seconds = seconds();
  diagnosis_.looks = watch_.looks();
  statements_ = read_statements();
  for (auto& [key, statement] : statements_) {
    const auto old = before.find(key);
    if (old == before.end()) continue;
    statement.calls -= old->second.calls;
    statement.ms -= old->second.ms;
  }
  return {};
}

/// Up to few_rows; unset: more of them, or this role may not count them and the statistics do not say that they are few.
std::optional<std::int64_t> Doctor::count_rows(const TableStatistics& table) {
  const std::array<Placeholder, 2> values{Placeholder{"table", table.quoted}, Placeholder{"most", std::to_string(few_rows)}};
  const auto rows = ask("doctor_rows", values);
  const auto number = rows ? number_of(rows->front()[0]) : table.live;
  if (number < 1 || number > few_rows) return std::nullopt;
  return number;
}

std::optional<Finding> Doctor::judge_table(std::int64_t id, const TableStatistics& table, std::int64_t updates) {
  const auto found = watch_.tables().find(id);
  const TableWaits none;
  const auto& waits = found == watch_.tables().end() ? none : found->second;
  const bool is_waited_for = is_one_hot_row(waits, watch_.looks());
  Finding finding;
  finding.rows = count_rows(table);
  const double each_per_s = finding.rows && diagnosis_.seconds > 0
                                ? static_cast<double>(updates) / static_cast<double>(*finding.rows) / diagnosis_.seconds
                                : 0;
  const bool is_updated_much = updates >= updates_min && each_per_s >= row_updates_per_s_min;
  // A counter's slots are meant to be few and busy; that sessions stand in one queue for them is not.
  if (!is_waited_for && (!is_updated_much || table.is_ours)) return std::nullopt;
  finding.schema = table.schema;
  finding.table = table.name;
  finding.is_ours = table.is_ours;
  finding.updates = updates;
  finding.looks_waited = waits.looks;
  finding.waiters_most = waits.waiters_most;
  finding.waiters_mean = waits.mean();
  if (!name_statement(finding, id, table)) return std::nullopt;
  return finding;
}

/// Sessions that update a whole table wait for each other at its first row, which is not hot for that.
bool is_for_all_rows(const Source& source, const Finding& finding) {
  return !source.increment.has_condition && !source.increment.table.empty() && !finding.rows;
}

/// False: the statement tells that no row is hot.
bool Doctor::name_statement(Finding& finding, std::int64_t id, const TableStatistics& table) {
  const auto source = find_source(id, table);
  const auto waits = watch_.tables().find(id);
  if (!source) {
    if (waits != watch_.tables().end()) finding.statement = shape_of(most_frequent(waits->second.statements), false);
    return true;
  }
  if (is_for_all_rows(*source, finding)) {
    diagnosis_.noticed.push_back(fmt::format("sessions waited for each other to update all rows of {}",
                                             quoted(table.schema + "." + table.name)));
    return false;
  }
  finding.column = source->increment.column;
  finding.statement = shape_of(source->text, false);
  finding.found_in = source->found_in;
  for (const auto& [key, statement] : statements_) {
    const auto found = increments(statement.text);
    const bool is_it = std::any_of(found.begin(), found.end(), [&](const Increment& one) {
      return one.table == table.name && one.column == finding.column;
    });
    if (!is_it || statement.calls <= finding.calls.value_or(0)) continue;
    finding.calls = statement.calls;
    finding.call_ms = statement.ms / static_cast<double>(statement.calls);
  }
  if (!finding.is_ours) {
    finding.remedy = remedy_for(engine_.dialect(), table.name, table.quoted, source->increment, finding.rows == 1);
  }
  return true;
}

/// The statement that counts in that table: of who waited, of who ran, by the server's statistics, in a function.
std::optional<Source> Doctor::find_source(std::int64_t id, const TableStatistics& table) {
  const std::array<std::string, 1> bound{table.id};
  const auto columns = ask("doctor_columns", {}, bound);
  if (!columns) return std::nullopt;
  const auto counts = [&columns](const std::string& column) {
    return std::any_of(columns->begin(), columns->end(), [&](const Row& row) { return row[0] == column && row[1] == "t"; });
  };
  const auto fits = [&](const std::string& text, bool by_other_name) -> std::optional<Increment> {
    for (auto& one : increments(text)) {
      const bool is_table = one.table == table.name && (one.schema.empty() || one.schema == table.schema);
      if ((is_table || by_other_name) && counts(one.column)) return one;
    }
    return std::nullopt;
  };
  std::optional<Source> best;
  std::int64_t most = 0;
  const auto consider = [&](const std::string& text, std::int64_t weight, const std::string& where, bool by_other_name) {
    if (weight <= most) return;
    if (auto one = fits(text, by_other_name)) {
      best = Source{*std::move(one), text, where};
      most = weight;
    }
  };
  const auto waits = watch_.tables().find(id);
  for (const bool by_view : {false, true}) {  // by its own name first; a view's has another one
    if (best || waits == watch_.tables().end()) break;
    for (const auto& [text, times] : waits->second.statements) consider(text, times, {}, by_view);
  }
  if (best) return best;
  for (const auto& [text, times] : running_) consider(text, times, {}, false);
  if (best) return best;
  for (const auto& [key, statement] : statements_) consider(statement.text, statement.calls, {}, false);
  if (best) return best;
  for (const auto& row : bodies_) {
    consider(row[1].value_or(""), 1, fmt::format("{} {}", row[2].value_or(""), quoted(row[0].value_or(""))), false);
  }
  if (best) best->text.clear();  // a whole body says less than its name
  return best;
}

void Doctor::notice(const TableStatistics& table, const TableWaits* waits, std::int64_t updates_before) {
  const auto name = quoted(table.schema + "." + table.name);
  if (waits != nullptr && is_one_long_transaction(*waits)) {
    diagnosis_.noticed.push_back(fmt::format(
        "sessions waited for a row of {}, but all of them for one transaction: that one is long, and the row need not be hot", name));
  }
  if (table.is_ours || table.live < 1 || table.live > few_rows) return;
  const double each = static_cast<double>(updates_before) / static_cast<double>(table.live);
  if (each < earlier_per_row_min) return;
  diagnosis_.noticed.push_back(fmt::format("the few rows of {} were updated {} times before, and were quiet during this watch", name,
                                           grouped(updates_before)));
}

Result<void> Doctor::judge(const std::map<std::int64_t, TableStatistics>& before) {
  auto after = read_tables();
  if (!after) return fail(std::move(after.error()));
  struct Candidate {
    std::int64_t id;
    std::int64_t updates;
    const TableWaits* waits;
  };
  std::vector<Candidate> candidates;
  for (const auto& [id, table] : *after) {
    const auto old = before.find(id);
    const auto waits = watch_.tables().find(id);
    candidates.push_back({id, std::max<std::int64_t>(0, table.updates - (old == before.end() ? 0 : old->second.updates)),
                          waits == watch_.tables().end() ? nullptr : &waits->second});
  }
  const auto is_hotter = [](const Candidate& one, const Candidate& other) {
    const int one_waited = one.waits == nullptr ? 0 : one.waits->waiters;
    const int other_waited = other.waits == nullptr ? 0 : other.waits->waiters;
    return one_waited != other_waited ? one_waited > other_waited : one.updates > other.updates;
  };
  std::sort(candidates.begin(), candidates.end(), is_hotter);
  std::size_t looked_at = 0;
  for (const auto& one : candidates) {
    const auto& table = after->at(one.id);
    std::optional<Finding> finding;
    if ((one.waits != nullptr || one.updates >= updates_min) && looked_at++ < tables_looked_at_max) {
      finding = judge_table(one.id, table, one.updates);
    }
    if (one.updates > 0) diagnosis_.tables.push_back({table.schema, table.name, one.updates, finding.has_value()});
    if (one.waits != nullptr) note_waits(table, *one.waits);
    if (finding) {
      diagnosis_.findings.push_back(*std::move(finding));
    } else {
      notice(table, one.waits, one.updates < updates_min ? table.updates : 0);
    }
  }
  leave_the_busiest();
  return {};
}

void Doctor::note_waits(const TableStatistics& table, const TableWaits& waits) {
  std::map<std::string, std::int64_t> shapes;  // two statements that differ in a text are one
  std::int64_t hidden = waits.waiters;
  for (const auto& [text, times] : waits.statements) {
    shapes[shape_of(text, false)] += times;
    hidden -= times;
  }
  if (hidden > 0) shapes[{}] += hidden;
  for (const auto& [shape, times] : shapes) diagnosis_.waits.push_back({table.schema, table.name, shape, times});
}

/// So many as a chart can show; of the other tables the sum.
void Doctor::leave_the_busiest() {
  auto& tables = diagnosis_.tables;
  std::stable_sort(tables.begin(), tables.end(), [](const TableSeen& one, const TableSeen& other) {
    return one.is_hot != other.is_hot ? one.is_hot : one.updates > other.updates;
  });
  for (auto i = shown_max; i < tables.size(); ++i) {
    ++diagnosis_.tables_more;
    diagnosis_.updates_more += tables[i].updates;
  }
  tables.resize(std::min(tables.size(), shown_max));
  auto& waits = diagnosis_.waits;
  std::stable_sort(waits.begin(), waits.end(),
                   [](const StatementWaits& one, const StatementWaits& other) { return one.waits > other.waits; });
  waits.resize(std::min(waits.size(), shown_max));
}

/// What an engine has that keeps no statistics: no finding, since nobody counted how often they run.
void Doctor::notice_triggers() {
  for (const auto& row : bodies_) {
    for (const auto& one : increments(row[1].value_or(""))) {
      diagnosis_.noticed.push_back(fmt::format("the {} {} counts in column {} of {} each time it runs; how often that is, is not known here",
                                               row[2].value_or(""), quoted(row[0].value_or("")), quoted(one.column),
                                               quoted(one.table)));
    }
  }
}

Result<Diagnosis> Doctor::run(const std::function<void(double)>& tell) {
  if (auto opened = open(); !opened) return fail(std::move(opened.error()));
  if (engine_.traits().one_writer) {
    notice_triggers();
    return std::move(diagnosis_);
  }
  const auto before = read_tables();
  if (!before) return fail(before.error());
  if (auto watched = watch(tell); !watched) return fail(std::move(watched.error()));
  if (auto judged = judge(*before); !judged) return fail(std::move(judged.error()));
  return std::move(diagnosis_);
}

}  // namespace

Result<Diagnosis> look_for_hot_rows(const Target& target, const DoctorOptions& options,
                                    const std::function<void(double)>& tell) {
  return Doctor(target.engine(), options).run(tell);
}

}  // namespace splitcount::measure
