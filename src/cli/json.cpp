#include <cli/json.h>

#include <nlohmann/json.hpp>

#include <base/clock.h>
#include <rule/rule.h>

namespace splitcount::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Keys are UTF-8; a file's name need not be, and then shows replacement characters.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

Json of(const Error& error) {
  return Json{{"code", error_code_name(error.code)},
              {"message", error.message},
              {"retryable", error.retryable},
              {"outcome_unknown", error.outcome_unknown}};
}

Json of(const Rule& rule) {
  return Json{{"key", of(rule.key)},
              {"slots", rule.slots},
              {"pick", rule::to_text(rule.pick)},
              {"missing", rule::to_text(rule.missing)},
              {"retries", rule::to_text(rule.retries)},
              {"freshness", rule::to_text(rule.freshness)},
              {"layout", rule::to_text(rule.layout)}};
}

Json of(const CounterInfo& counter) {
  return Json{{"counter", counter.name},
              {"rule", of(counter.rule)},
              {"version", counter.version},
              {"created_at", format_instant(counter.created_at)},
              {"moved_to", of(counter.moved_to)}};
}

Json of(std::string_view counter, const Total& total) {
  return Json{{"counter", counter},
              {"key", of(total.key)},
              {"total", total.total},
              {"freshness", total.live ? "live" : "rolled-up"},
              {"as_of", format_instant(total.as_of)},
              {"slots", total.slots}};
}

Json of(std::string_view counter, std::span<const Total> totals) {
  Json list = Json::array();
  for (const auto& total : totals) list.push_back(of(counter, total));
  return list;
}

Json of(const std::optional<std::int64_t>& number) { return number ? Json(*number) : Json(nullptr); }

Json of(const copy::Report& report) {
  Json differences = Json::array();
  for (const auto& one : report.differences) {
    differences.push_back(
        Json{{"key", one.key.empty() ? Json(nullptr) : Json(one.key)}, {"from", of(one.here)}, {"to", of(one.there)}});
  }
  Json json{{"counter", report.counter},
            {"keys", report.keys},
            {"keys_written", report.keys_written},
            {"ids_written", report.ids_written},
            {"files_written", report.files_written},
            {"closed", report.closed},
            {"complete", report.complete},
            {"keys_behind", report.keys_behind},
            {"keys_ahead", report.keys_ahead},
            {"others_behind", report.others_behind},
            {"differences", differences},
            {"notes", report.notes},
            {"stopped", report.stopped}};
  if (report.error) json["error"] = of(*report.error);
  return json;
}

Json of(const CountSummary::File& file) {
  const auto& report = file.report;
  Json rejects = Json::object();
  for (const auto& [reason, lines] : report.rejects) rejects[reason] = lines;
  Json json{{"file", file.path},
            {"lines_read", report.lines_read},
            {"lines_counted", report.lines_counted},
            {"lines_rejected", rejected(report)},
            {"rejects", rejects},
            {"counted_before", report.known},
            {"lines_before", report.lines_before},
            {"bytes_before", report.bytes_before},
            {"bytes_read", report.bytes_read},
            {"bytes_unfinished", report.bytes_unfinished},
            {"again_finished", report.resumed_again},
            {"again_unfinished", report.again_unfinished},
            {"stopped", report.stopped}};
  if (report.error) json["error"] = of(*report.error);
  return json;
}

}  // namespace

std::uint64_t rejected(const intake::CountReport& report) {
  std::uint64_t lines = 0;
  for (const auto& reason : report.rejects) lines += reason.second;
  return lines;
}

std::uint64_t CountSummary::lines_read() const {
  std::uint64_t lines = 0;
  for (const auto& file : files) lines += file.report.lines_read;
  return lines;
}

std::uint64_t CountSummary::lines_counted() const {
  std::uint64_t lines = 0;
  for (const auto& file : files) lines += file.report.lines_counted;
  return lines;
}

std::uint64_t CountSummary::lines_rejected() const {
  std::uint64_t lines = 0;
  for (const auto& file : files) lines += rejected(file.report);
  return lines;
}

std::int64_t CountSummary::lines_per_second() const {
  return seconds > 0 ? static_cast<std::int64_t>(static_cast<double>(lines_read()) / seconds) : 0;
}

std::string error_json(const Error& error) { return text_of(Json{{"error", of(error)}}); }

std::string defined_json(std::string_view counter, const Rule& rule, const Defined& what) {
  return text_of(Json{{"counter", counter},
                      {"created", what.created},
                      {"keys_added", what.keys_added},
                      {"slots_restored", what.slots_restored},
                      {"rule", of(rule)},
                      {"advice", what.advice}});
}

std::string list_json(std::span<const CounterInfo> counters) {
  Json list = Json::array();
  for (const auto& counter : counters) list.push_back(of(counter));
  return text_of(list);
}

std::string description_json(const Description& description) {
  Json json = of(description.counter);
  json["objects"] = description.objects;
  json["use"] = description.use;
  json["keys"] = description.keys;
  json["total"] = description.total ? Json(description.total->total) : Json(nullptr);
  json["slots"] = description.total ? Json(description.total->slots) : Json(nullptr);
  return text_of(json);
}

std::string added_json(std::string_view counter, const std::optional<std::string>& key, std::int64_t amount,
                       const Added& added) {
  return text_of(Json{{"counter", counter},
                      {"key", of(key)},
                      {"amount", amount},
                      {"slot", added.slot},
                      {"replay", added.replay}});
}

std::string total_json(std::string_view counter, const Total& total) { return text_of(of(counter, total)); }

std::string totals_json(std::string_view counter, std::span<const Total> totals) { return text_of(of(counter, totals)); }

std::string slots_json(std::span<const Slot> slots) {
  Json list = Json::array();
  for (const auto& slot : slots) list.push_back(Json{{"slot", slot.slot}, {"n", slot.n}});
  return text_of(list);
}

std::string summary_json(const CountSummary& summary) {
  Json files = Json::array();
  for (const auto& file : summary.files) files.push_back(of(file));
  Json json{{"counter", summary.counter},
            {"field", summary.field},
            {"defined", summary.defined},
            {"files", files},
            {"lines_read", summary.lines_read()},
            {"lines_counted", summary.lines_counted()},
            {"lines_rejected", summary.lines_rejected()},
            {"seconds", summary.seconds},
            {"lines_per_second", summary.lines_per_second()},
            {"keys", summary.keys},
            {"total", summary.total ? Json(summary.total->total) : Json(nullptr)},
            {"as_of", summary.total ? Json(format_instant(summary.total->as_of)) : Json(nullptr)},
            {"top", of(summary.counter, summary.top)},
            {"stopped", summary.stopped}};
  if (summary.error) json["error"] = of(*summary.error);
  return text_of(json);
}

std::string status_json(std::string_view database, const Status& status) {
  return text_of(Json{{"database", database},
                      {"engine", status.engine},
                      {"engine_version", status.engine_version},
                      {"durability", status.durability},
                      {"warnings", status.warnings},
                      {"closed", status.closed},
                      {"overdue", status.overdue},
                      {"schema_version", status.schema_version},
                      {"counters", status.counters},
                      {"size_bytes", status.size_bytes}});
}

std::string maintained_json(std::span<const Maintained> counters) {
  Json list = Json::array();
  for (const auto& counter : counters) {
    Json json{{"counter", counter.counter},
              {"deltas_folded", counter.deltas_folded},
              {"ids_purged", counter.ids_purged}};
    if (counter.error) json["error"] = of(*counter.error);
    list.push_back(json);
  }
  return text_of(list);
}

std::string script_json(std::string_view counter, std::string_view dialect, std::string_view script) {
  return text_of(Json{{"counter", counter}, {"dialect", dialect}, {"script", script}});
}

std::string copied_json(std::string_view from, std::string_view to, std::span<const copy::Report> reports) {
  Json counters = Json::array();
  for (const auto& report : reports) counters.push_back(of(report));
  return text_of(Json{{"from", from}, {"to", to}, {"counters", counters}});
}

std::string opened_json(std::string_view counter, bool opened) {
  return text_of(Json{{"counter", counter}, {"opened", opened}});
}

std::string dropped_json(std::string_view counter) { return text_of(Json{{"counter", counter}, {"dropped", true}}); }

std::string uninstalled_json() { return text_of(Json{{"uninstalled", true}}); }

}  // namespace splitcount::cli
