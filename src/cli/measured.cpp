#include <cli/measured.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <splitcount/version.h>

#include <base/clock.h>
#include <measure/machine.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A name that the database gives need not be UTF-8, and then shows replacement characters.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json of(const measure::Spread& spread) {
  return Json{{"median", spread.median}, {"least", spread.least}, {"most", spread.most}};
}

Json of(const measure::Machine& machine) {
  return Json{{"system", machine.system},
              {"processor", machine.processor},
              {"processors", machine.processors},
              {"memory_bytes", machine.memory_bytes}};
}

Json of(const measure::Measured& one) {
  auto adds = of(measure::spread_of(one.adds_per_second));
  adds["rounds"] = one.adds_per_second;
  return Json{{"name", one.design.name},
              {"what", one.design.what},
              {"ours", one.design.rule.has_value()},
              {"slots", one.design.slots},
              {"adds_per_second", adds},
              {"of_limit", of(one.of_limit)},
              {"p50_us", one.p50_us},
              {"p99_us", one.p99_us},
              {"p999_us", one.p999_us},
              {"longest_us", one.longest_us},
              {"adds", one.adds},
              {"share_waited", one.share_waited},
              {"deadlocks", one.deadlocks},
              {"retries", one.retries},
              {"total_us", one.total_us},
              {"bytes_per_add", one.bytes_per_add},
              {"exact", one.total_wrong_by == 0},
              {"total_wrong_by", one.total_wrong_by}};
}

Json of(const measure::TrialResult& result) {
  Json designs = Json::array();
  for (const auto& one : result.designs) designs.push_back(of(one));
  return designs;
}

Json of(const measure::Settings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json;
}

/// What every report begins with.
Json head(std::string_view kind, std::string_view command) {
  return Json{{"report", kind},
              {"command", command},
              {"at", format_instant(now_utc())},
              {"splitcount", SPLITCOUNT_VERSION},
              {"machine", of(measure::this_machine())}};
}

Json head(std::string_view kind, const TrialReport& report) {
  Json json = head(kind, report.command);
  json["database"] = report.database;
  json["engine"] = report.engine;
  json["settings"] = of(report.result.settings);
  json["isolation"] = report.isolation;
  json["work"] = report.options.insert_too ? "insert+count" : "count";
  json["sessions"] = report.options.sessions;
  json["seconds"] = std::chrono::duration<double>(report.options.turn).count();
  json["rounds"] = report.result.rounds;
  json["stopped"] = report.result.stopped || report.result.fault.has_value();
  return json;
}

}  // namespace

std::string define_command(const TrialReport& report, const measure::Advice& advice) {
  std::string command = "splitcount define NAME";
  if (report.engine == "sqlite") return command;  // its default is what is advised
  command += fmt::format(" --slots {} --pick {}", advice.rule.slots, rule::to_text(advice.rule.pick));
  if (advice.rule.layout != Layout::compact) command += fmt::format(" --layout {}", rule::to_text(advice.rule.layout));
  return command;
}

std::string compare_json(const TrialReport& report) {
  Json json = head("compare", report);
  json["designs"] = of(report.result);
  return text_of(json);
}

std::string advise_json(const TrialReport& report, const measure::Advice& advice) {
  Json json = head("advise", report);
  json["designs"] = of(advice.curve);
  json["picks"] = of(advice.picks);
  const bool sure = advice.sure;
  json["advice"] = Json{{"sure", sure},
                        {"slots", sure ? Json(advice.rule.slots) : Json(nullptr)},
                        {"pick", sure ? Json(rule::to_text(advice.rule.pick)) : Json(nullptr)},
                        {"layout", sure ? Json(rule::to_text(advice.rule.layout)) : Json(nullptr)},
                        {"slots_least", advice.steps[advice.knee.least]},
                        {"slots_most", advice.steps[advice.knee.most]},
                        {"sentence", advice.sentence},
                        {"define", sure ? Json(define_command(report, advice)) : Json(nullptr)}};
  return text_of(json);
}

std::string page_json(std::string_view kind, const Session& session, const measure::Target& target, const std::string& json) {
  Json page = head(kind, session.command_line);
  page["database"] = session.database_name();
  page["engine"] = target.dialect();
  if (const auto settings = measure::settings_of(target)) page["settings"] = of(*settings);
  page.update(Json::parse(json));
  return text_of(page);
}

std::string locks_json(const measure::LocksHeld& locks, std::string_view engine) {
  return text_of(Json{{"one_row", locks.one_row},
                      {"two_slots", locks.two_slots},
                      {"lock", locks.is_of_database ? "database" : "row"},
                      {"engine", engine}});
}

std::string waiters_json(const std::vector<measure::Waiter>& waiters, const std::string& why_none) {
  Json list = Json::array();
  for (const auto& waiter : waiters) {
    list.push_back(Json{{"pid", waiter.process},
                        {"blocked_by", waiter.blocked_by},
                        {"counter", waiter.counter},
                        {"table", waiter.table},
                        {"since", waiter.since.empty() ? Json(nullptr) : Json(waiter.since)},
                        {"seconds", waiter.seconds},
                        {"statement", waiter.statement ? Json(*waiter.statement) : Json(nullptr)}});
  }
  return text_of(Json{{"waits", list}, {"why_none", why_none.empty() ? Json(nullptr) : Json(why_none)}});
}

std::string pages_json(const measure::SlotPages& pages) {
  return text_of(Json{{"counter", pages.counter},
                      {"key", pages.key ? Json(*pages.key) : Json(nullptr)},
                      {"slots", pages.slots},
                      {"pages", pages.pages},
                      {"layout", rule::to_text(pages.layout)},
                      {"page_bytes", pages.page_bytes},
                      {"table_bytes", pages.table_bytes},
                      {"index_bytes", pages.index_bytes},
                      {"slot_bytes", pages.slot_bytes},
                      {"slot_bytes_compact", pages.slot_bytes_compact}});
}

namespace {

Json of(const measure::Finding& finding, const std::string& command) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json{{"schema", finding.schema},
            {"table", finding.table},
            {"column", or_null(finding.column)},
            {"statement", or_null(finding.statement)},
            {"found_in", or_null(finding.found_in)},
            {"is_counter", finding.is_ours},
            {"rows", finding.rows ? Json(*finding.rows) : Json(nullptr)},
            {"updates", finding.updates},
            {"looks_waited", finding.looks_waited},
            {"waiters_mean", finding.waiters_mean},
            {"waiters_most", finding.waiters_most},
            {"calls", finding.calls ? Json(*finding.calls) : Json(nullptr)},
            {"call_ms", finding.calls ? Json(finding.call_ms) : Json(nullptr)},
            {"remedy", nullptr}};
  if (finding.remedy) {
    const auto& remedy = *finding.remedy;
    json["remedy"] = Json{{"command", define_command(command, remedy)},
                          {"instead", remedy.add},
                          {"read", remedy.read},
                          {"carry_over", remedy.carry},
                          {"cautions", remedy.cautions}};
  }
  return json;
}

}  // namespace

std::string diagnosis_json(const measure::Diagnosis& diagnosis, const std::string& command, const std::string& database,
                           std::string_view engine) {
  Json findings = Json::array();
  for (const auto& finding : diagnosis.findings) findings.push_back(of(finding, command));
  Json tables = Json::array();
  for (const auto& one : diagnosis.tables) {
    tables.push_back(Json{{"schema", one.schema}, {"table", one.table}, {"updates", one.updates}, {"hot", one.is_hot}});
  }
  Json waits = Json::array();
  for (const auto& one : diagnosis.waits) {
    waits.push_back(Json{{"schema", one.schema},
                         {"table", one.table},
                         {"statement", one.statement.empty() ? Json(nullptr) : Json(one.statement)},
                         {"waits", one.waits}});
  }
  return text_of(Json{{"database", database},
                      {"engine", engine},
                      {"seconds", diagnosis.seconds},
                      {"looks", diagnosis.looks},
                      {"findings", findings},
                      {"tables", tables},
                      {"tables_more", diagnosis.tables_more},
                      {"updates_more", diagnosis.updates_more},
                      {"waits", waits},
                      {"noticed", diagnosis.noticed},
                      {"unseen", diagnosis.unseen},
                      {"stopped", diagnosis.stopped}});
}

std::string define_command(const std::string& command, const measure::Remedy& remedy) {
  const auto key = remedy.key_column.empty() ? std::string() : " --key " + remedy.key_column;
  return command + " define " + remedy.counter + key;
}

}  // namespace splitcount::cli
