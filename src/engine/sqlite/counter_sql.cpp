#include <engine/sqlite/counter_sql.h>

#include <array>

#include <fmt/format.h>

#include <engine/rule_row.h>
#include <engine/sqlite/quote.h>
#include <rule/rule.h>

namespace splitcount::engine::sqlite {
namespace {

/// Fragments hold placeholders of their own, to this depth: trigger > claim > pick > byte.
constexpr int fragment_depth_max = 6;

std::string fill_all(std::string text, std::span<const Placeholder> placeholders) {
  for (int depth = 0; depth < fragment_depth_max; ++depth) {
    auto filled = fill(text, placeholders);
    if (filled == text) break;
    text = std::move(filled);
  }
  return text;
}

std::string of_dialect(std::string_view name) { return std::string(statement(dialect, name)); }

std::string_view pick_fragment(Pick pick) {
  switch (pick) {
    case Pick::spread: return "pick_first";  // one writer: nobody ever holds slot 0
    case Pick::value: return "pick_value";
    case Pick::request: return "pick_request";
    case Pick::session:  // one writer: every slot is as free as any other
    case Pick::free:
    case Pick::random: break;
  }
  return "pick_random";
}

}  // namespace

std::string shared_sql(std::string_view name) {
  static const std::array<Placeholder, 2> fragments{Placeholder{"created_ms", of_dialect("created_ms")},
                                                    Placeholder{"now_ms", of_dialect("now_ms")}};
  return fill(statement(dialect, name), fragments);
}

CounterSql::CounterSql(std::string_view counter, const Rule& rule)
    : counter_(counter),
      has_key_(rule.key.has_value()),
      once_(rule.retries.once),
      slots_at_once_(has_slots_at_once(rule)) {
  add_names(counter, rule);
  add_key_fragments();
  add_trigger_fragments(rule);
  add_rule_values(rule);
}

void CounterSql::put(std::string_view name, std::string value) {
  placeholders_.push_back({std::string(name), std::move(value)});
}

void CounterSql::add_names(std::string_view counter, const Rule& rule) {
  put("counter", quote_name(counter));
  put("slots", quote_name(fmt::format("{}_slots", counter)));
  put("add", quote_name(fmt::format("{}_add", counter)));
  put("requests", quote_name(fmt::format("{}_requests", counter)));
  put("name", quote_text(counter));
  put("key", rule.key ? quote_name(*rule.key) : std::string());
  put("now_ms", of_dialect("now_ms"));
}

/// What a key adds to a list, and nothing where there is none.
void CounterSql::add_key_fragments() {
  constexpr std::array<std::string_view, 8> fragments{"key_list",   "key_null",      "new_key",   "new_key_match",
                                                      "key_update", "key_parameter", "key_match", "key_column"};
  for (const auto fragment : fragments) put(fragment, has_key_ ? of_dialect(fragment) + " " : std::string());
  put("key_or_empty", has_key_ ? "{key}" : "''");
  put("check_key", has_key_ ? of_dialect("check_key") : std::string());
  put("no_row", of_dialect(has_key_ ? "no_row_with_key" : "no_row"));
}

void CounterSql::add_trigger_fragments(const Rule& rule) {
  const std::array<Placeholder, 1> key_text{Placeholder{"text", "NEW.{key}"}};
  const std::array<Placeholder, 1> request_id_text{Placeholder{"text", "NEW.request_id"}};
  put("key_not_utf8", fill(statement(dialect, "not_utf8"), key_text));
  put("request_id_not_utf8", fill(statement(dialect, "not_utf8"), request_id_text));
  put("check_request_id", of_dialect(once_ ? "check_request_id_once" : "check_request_id_count"));
  put("check_value", of_dialect(rule.pick == Pick::value ? "check_value_needed" : "check_value_unwanted"));
  put("use_value", rule.pick == Pick::value ? "value, " : "");
  put("use_request_id", once_ ? ", request_id" : "");
  put("pick", of_dialect(pick_fragment(rule.pick)));
  put("byte", of_dialect("byte"));
  put("slot", of_dialect(once_ ? "slot_once" : "slot_count"));
  put("claim", once_ ? of_dialect("claim") : std::string());
  put("purge", rule.retries.window ? of_dialect("purge") : std::string());
  put("expiry_index", rule.retries.window ? of_dialect("expiry_index") : std::string());
  put("write", of_dialect(rule.missing == Missing::error ? "write_existing" : "write_create"));
}

void CounterSql::add_rule_values(const Rule& rule) {
  put("schema_version", fmt::format("{}", schema_version_latest));
  put("key_name", rule.key ? quote_text(*rule.key) : std::string("NULL"));
  put("slots_number", fmt::format("{}", rule.slots));
  put("pick_word", quote_text(rule::to_text(rule.pick)));
  put("missing_word", quote_text(rule::to_text(rule.missing)));
  put("retries_word", quote_text(once_ ? "once" : "count"));
  put("window_number", rule.retries.window ? fmt::format("{}", rule.retries.window->count()) : std::string("NULL"));
}

std::string CounterSql::text(std::string_view name, std::string_view key_value) const {
  const auto filled = fill_all(of_dialect(name), placeholders_);
  // Last, and on its own: a key may look like a placeholder.
  const std::array<Placeholder, 1> key{
      Placeholder{"key_value", has_key_ ? fmt::format("{}, ", key_value) : std::string()}};
  return fill(filled, key);
}

std::vector<std::string> CounterSql::definition() const {
  std::vector<std::string> texts{text(has_key_ ? "slots_table_with_key" : "slots_table"),
                                 text(has_key_ ? "total_view_with_key" : "total_view")};
  if (once_) texts.push_back(text("requests_table"));
  texts.push_back(text("add_view"));
  texts.push_back(text("add_trigger"));
  texts.push_back(text("rule_row"));
  if (slots_at_once_) texts.push_back(text("create_slots"));
  return texts;
}

std::vector<std::string> CounterSql::removal() const {
  std::vector<std::string> texts{text("drop_counter")};
  if (once_) texts.push_back(text("drop_requests"));  // without ids a table of that name is somebody else's
  return texts;
}

std::vector<std::string> CounterSql::object_names() const {
  std::vector<std::string> names{counter_, counter_ + "_slots", counter_ + "_add"};
  if (once_) names.push_back(counter_ + "_requests");
  return names;
}

}  // namespace splitcount::engine::sqlite
