#include <engine/postgresql/counter_sql.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <base/limits.h>
#include <engine/postgresql/quote.h>
#include <engine/rule_row.h>
#include <rule/rule.h>

namespace splitcount::engine::postgresql {
namespace {

/// Fragments hold placeholders of their own, to this depth: function > pick > others > try > key.
constexpr int fragment_depth_max = 10;
/// Expired ids that each new one takes with it, and those that a call of many takes.
constexpr int purged_per_add = 2;
constexpr int purged_per_call = 1'000;

std::string fill_all(std::string text, std::span<const Placeholder> placeholders) {
  for (int depth = 0; depth < fragment_depth_max; ++depth) {
    auto filled = fill(text, placeholders);
    if (filled == text) break;
    text = std::move(filled);
  }
  return text;
}

std::string of_dialect(std::string_view name) { return std::string(statement(dialect, name)); }

/// The function takes a slot that nobody holds. In a journal every slot is such a one.
bool is_floating(const Rule& rule) {
  const bool is_wanted = rule.pick == Pick::session || rule.pick == Pick::spread || rule.pick == Pick::free;
  return is_wanted && rule.layout != Layout::journal;
}

/// The rows that a read takes.
void add_sources(std::vector<Placeholder>& names, const Rule& rule) {
  const bool journal = rule.layout == Layout::journal;
  const auto put = [&](std::string_view name, std::string_view statement_name) {
    names.push_back({std::string(name), fill_all(of_dialect(statement_name), names)});
  };
  put("all", journal ? "journal_all" : "slots_all");
  put("rows", journal ? "journal_rows" : "slots_all");
  put("rows_of_keys", journal ? "journal_rows_of_keys" : "slots_all");
  names.push_back({"not_in_deltas", journal ? fill_all(of_dialect("not_in_deltas"), names) : std::string()});
}

std::vector<Placeholder> names_of(std::string_view counter, const Rule& rule, std::string_view schema) {
  const auto deltas = quote_name(fmt::format("{}_deltas", counter));
  return {{"schema", std::string(schema)},
          {"counter", quote_name(counter)},
          {"slots", quote_name(fmt::format("{}_slots", counter))},
          {"add", quote_name(fmt::format("{}_add", counter))},
          {"add_one", quote_name(fmt::format("{}_add_one", counter))},
          {"add_many", quote_name(fmt::format("{}_add_many", counter))},
          {"total", quote_name(fmt::format("{}_total", counter))},
          {"requests", quote_name(fmt::format("{}_requests", counter))},
          {"deltas", deltas},
          {"deltas_table_id", quote_text(fmt::format("{}.{}", schema, deltas)) + "::regclass"},
          {"purge_ids", quote_name(fmt::format("{}_purge", counter))},
          {"fold", quote_name(fmt::format("{}_fold", counter))},
          {"name", quote_text(counter)},
          {"key", rule.key ? quote_name(*rule.key) : std::string()},
          {"key_at_six", rule.key ? "$6, " : ""},
          {"key_list", rule.key ? quote_name(*rule.key) + ", " : std::string()},
          {"slots_number", fmt::format("{}", rule.slots)},
          {"created_us", of_dialect("created_us")},
          {"now_us", of_dialect("now_us")}};
}

std::vector<Placeholder> names_and_sources(std::string_view counter, const Rule& rule, std::string_view schema) {
  auto names = names_of(counter, rule, schema);
  add_sources(names, rule);
  return names;
}

}  // namespace

std::string shared_sql(std::string_view name, std::string_view schema) {
  const std::array<Placeholder, 4> fragments{Placeholder{"schema", std::string(schema)},
                                             Placeholder{"shared_tables", of_dialect("shared_tables")},
                                             Placeholder{"schema_text", quote_text(schema)},
                                             Placeholder{"created_us", of_dialect("created_us")}};
  return fill(statement(dialect, name), fragments);
}

std::string counter_sql(std::string_view name, std::string_view counter, const Rule& rule, std::string_view schema) {
  return fill(statement(dialect, name), names_of(counter, rule, schema));
}

std::string read_sql(std::string_view name, std::string_view counter, const Rule& rule, std::string_view schema) {
  return fill(statement(dialect, name), names_and_sources(counter, rule, schema));
}

CounterSql::CounterSql(std::string_view counter, const Rule& rule, std::string_view schema)
    : counter_(counter),
      rule_(rule),
      has_key_(rule.key.has_value()),
      once_(rule.retries.once),
      floating_(is_floating(rule)),
      journal_(rule.layout == Layout::journal),
      placeholders_(names_and_sources(counter, rule, schema)) {
  put("refuse", "{schema}.splitcount_refuse");
  put_statement("add_body", "add_body");
  add_key_fragments();
  add_example();
  add_check_fragments();
  add_pick_fragments();
  add_write_fragments();
  add_request_fragments();
  add_rule_values();
  if (journal_) add_journal_fragments();
}

void CounterSql::put(std::string_view name, std::string value) {
  placeholders_.push_back({std::string(name), std::move(value)});
}

void CounterSql::put_statement(std::string_view name, std::string_view statement_name) {
  put(name, of_dialect(statement_name));
}

/// What a key adds to a list, and nothing where there is none.
void CounterSql::add_key_fragments() {
  const auto with_key = [this](std::string_view name, std::string_view text) {
    put(name, has_key_ ? std::string(text) : std::string());
  };
  with_key("new_key", "_key, ");
  with_key("key_match", "{key} = _key AND ");
  with_key("key_update", "{key} = excluded.{key}, ");
  with_key("key_parameter", "{key} text, ");
  with_key("key_argument", "{key} text");
  with_key("key_type", "text");
  with_key("declare_key", "_key CONSTANT text := {key};\n  ");
  with_key("and_key", " || {key_of_row}");
  with_key("of_key", "_s.{key} = {key_of_row} AND ");
  with_key("of_key_many", "_s.{key} = _adds._key AND ");
  with_key("same_key", "_r.{key} = _key AND ");
  with_key("same_key_many", "_r.{key} = _adds._key AND ");
  put("key_or_empty_of_add", has_key_ ? "_key" : "''::text");
  put("key_or_empty_of_slot", has_key_ ? "_s.{key}" : "''::text");
  put("key_column", has_key_ ? of_dialect("key_column") + "\n  " : std::string());
  put("add_types", has_key_ ? "text, bigint, text, bigint, integer" : "bigint, text, bigint, integer");
  put("where_first_argument", has_key_ ? " " + of_dialect("where_first_argument") : std::string());
}

/// The arguments of an add that is not refused.
void CounterSql::add_example() {
  std::vector<std::string> arguments;
  if (has_key_) arguments.emplace_back("{key} => '/home'");
  if (rule_.pick == Pick::value) arguments.emplace_back("value => 4711");
  if (once_) arguments.emplace_back("request_id => '7f3a'");
  if (arguments.empty()) arguments.emplace_back("amount => 1");
  put("add_example", fmt::format("{}", fmt::join(arguments, ", ")));
}

void CounterSql::add_check_fragments() {
  put("check_key", has_key_ ? of_dialect("check_key") : std::string());
  put_statement("check_key_many", has_key_ ? "check_key_many" : "check_no_key_many");
  put_statement("check_request_id", once_ ? "check_request_id_once" : "check_request_id_count");
  put_statement("check_request_id_many", once_ ? "check_request_id_once_many" : "check_request_id_count_many");
  put_statement("check_value", rule_.pick == Pick::value ? "check_value_needed" : "check_value_unwanted");
  put("check_missing_many", rule_.missing == Missing::error ? of_dialect("check_missing_many") : std::string());
  put_statement("no_row", has_key_ ? "no_row_with_key" : "no_row");
  put_statement("no_row_many", has_key_ ? "no_row_with_key_many" : "no_slot");
  put_statement("slot_outside", "slot_outside");
  put_statement("key_wrong", "key_wrong");
  put_statement("amount_missing", "amount_missing");
  put_statement("id_refused", "id_refused");
  put_statement("id_wrong", "id_wrong");
  put_statement("id_conflict", "id_conflict");
  put_statement("id_in_flight", "id_in_flight");
  put_statement("value_missing", "value_missing");
  put_statement("sum_outside", "sum_outside");
  put_statement("no_slot", "no_slot");
  put_statement("no_key", "no_key");
}

void CounterSql::add_pick_fragments() {
  put_statement("choose", floating_ ? "choose_floating" : "choose_fixed");
  put_statement("choose_many", floating_ ? "choose_floating" : "choose_fixed_many");
  switch (rule_.pick) {
    case Pick::value:
      put_statement("fixed_slot", "fixed_value");
      put_statement("fixed_slot_many", "fixed_value_many");
      break;
    case Pick::request:
      put_statement("fixed_slot", "fixed_request");
      put_statement("fixed_slot_many", "fixed_request");
      break;
    case Pick::random:
      put_statement("fixed_slot", "fixed_random");
      put_statement("fixed_slot_many", "fixed_random");
      break;
    default:
      put_statement("fixed_slot", "fixed_zero");
      put_statement("fixed_slot_many", "fixed_zero");
  }
  const bool spread = rule_.pick == Pick::spread;
  const bool create = rule_.missing == Missing::create;
  put_statement("first_try", spread ? "try_zero" : "try_own");
  put("first_slot", !floating_ ? "0" : spread ? "0" : "_own");
  put_statement("others", spread ? "others_spread" : "others_session");
  put_statement("try_own", "try_own");
  put_statement("try_any", "try_any");
  put_statement("wait_for", "wait_for");
  std::string new_slots;
  if (create && spread) new_slots += of_dialect("new_zero") + "\n    ";
  if (create) new_slots += of_dialect("new_slot") + "\n    ";
  put("new_slots", new_slots);
  put("slot_of_row", floating_ ? "coalesce(_given, ({first_try}), {others})" : "_given");
}

void CounterSql::add_write_fragments() {
  const auto sum = [](std::string_view n, std::string_view amount) {
    const std::array<Placeholder, 2> terms{Placeholder{"n", std::string(n)},
                                           Placeholder{"amount", std::string(amount)}};
    return fill(statement(dialect, "sum"), terms);
  };
  put("sum_of_add", sum("n", "_amount"));
  put("sum_of_excluded", sum("_s.n", "excluded.n"));
  put_statement("write_fixed", rule_.missing == Missing::error ? "write_existing" : "write_create");
  put("write", journal_ ? of_dialect("write_journal") : floating_ ? of_dialect("write_floating") : "{write_fixed}");
  put_statement("write_many", journal_ ? "write_many_journal" : "write_many_slots");
  put_statement("adds", "adds");
}

void CounterSql::add_journal_fragments() {
  const bool create = rule_.missing == Missing::create;
  put_statement("where_it_can_append", create ? "where_it_can_append_create" : "where_it_can_append_existing");
  put_statement("write_judged", "write_judged");
  put("create_judged", create ? of_dialect("create_judged") : std::string());
  put_statement("fold_if_due", "fold_if_due");
  put_statement("fold_lock", "fold_lock");
  put("delta_key_column", has_key_ ? of_dialect("delta_key_column") : std::string());
  put("key_order", has_key_ ? "{key} COLLATE \"C\", " : std::string());
  const auto put_number = [this](std::string_view name, std::int64_t number) { put(name, fmt::format("{}", number)); };
  put_number("amount_max", limits::journal_amount_max);
  put_number("slot_max", limits::journal_slot_max);
  put_number("deltas_max", limits::journal_deltas_max);
  put_number("look_once_in", limits::journal_adds_per_look);
  put_number("fold_pages_max", limits::fold_pages_max);
  put_number("fold_ms_max", limits::fold_ms_max);
}

void CounterSql::add_request_fragments() {
  const auto if_once = [this](std::string_view name, std::string_view statement_name) {
    put(name, once_ ? of_dialect(statement_name) : std::string());
  };
  if_once("claim", "claim");
  if_once("claim_many", "claim_many");
  put("note_slot", once_ && floating_ ? of_dialect("note_slot") : std::string());
  put("note_slots_many", once_ && floating_ ? of_dialect("note_slots_many") : std::string());
  put("replays", once_ ? "\n  " + of_dialect("replays") : std::string());
  put("counting_adds", once_ ? of_dialect("counting_adds_once") : "{adds}");
  put("lock_timeout", once_ ? fmt::format(" SET lock_timeout = '{}s'", function_wait_s_max) : "");
  const bool window = rule_.retries.window.has_value();
  put_statement("on_known", window ? "on_known_window" : "on_known_for_ever");
  const auto purge = [window](std::int64_t count) {
    const std::array<Placeholder, 1> bound{Placeholder{"purge_count", fmt::format("{}", count)}};
    return window ? fill(statement(dialect, "purge"), bound) : std::string();
  };
  put("purge", purge(purged_per_add));
  put("purge_many", purge(purged_per_call));
  put("purge_maintained", purge(limits::purged_ids_max));
}

void CounterSql::add_rule_values() {
  const bool padded = rule_.layout == Layout::padded;
  put_statement("storage", padded ? "storage_padded" : "storage_compact");
  put("filler", padded ? of_dialect("filler_column") : std::string());
  put("schema_version", fmt::format("{}", schema_version_latest));
  put("key_name", rule_.key ? quote_text(*rule_.key) : std::string("NULL"));
  put("pick_word", quote_text(rule::to_text(rule_.pick)));
  put("missing_word", quote_text(rule::to_text(rule_.missing)));
  put("retries_word", quote_text(once_ ? "once" : "count"));
  put("layout_word", quote_text(rule::to_text(rule_.layout)));
  put("window_number", rule_.retries.window ? fmt::format("{}", rule_.retries.window->count()) : std::string("NULL"));
}

std::string CounterSql::text(std::string_view name, std::string_view key_value) const {
  const auto filled = fill_all(of_dialect(name), placeholders_);
  // Last, and on its own: a key may look like a placeholder.
  const std::array<Placeholder, 1> key{
      Placeholder{"key_value", has_key_ ? fmt::format("{}, ", key_value) : std::string()}};
  return fill(filled, key);
}

/// A function, with what it alone puts into the shared fragments; `key_of_row` is the key whose slots are looked at.
std::string CounterSql::function_text(std::string_view name, std::vector<Placeholder> its_own) const {
  its_own.insert(its_own.end(), placeholders_.begin(), placeholders_.end());
  return fill_all(of_dialect(name), its_own);
}

std::vector<std::string> CounterSql::definition() const {
  std::vector<std::string> texts{text(has_key_ ? "slots_table_with_key" : "slots_table")};
  if (rule_.layout == Layout::padded) texts.push_back(text("filler_plain"));
  if (journal_) texts.push_back(text("deltas_table"));
  texts.push_back(text(has_key_ ? "total_view_with_key" : "total_view"));
  texts.push_back(text("total_function"));
  if (once_) texts.push_back(text("requests_table"));
  if (rule_.retries.window) texts.insert(texts.end(), {text("expiry_index"), text("purge_function")});
  if (journal_) texts.push_back(text("fold_function"));
  texts.push_back(function_text("add_function", {{"key_of_row", "_key"},
                                                 {"check_rule", ""},
                                                 {"counted", "true"},
                                                 {"counted_first", "true"},
                                                 {"replayed", "false"},
                                                 {"adds_number", "1"}}));
  texts.push_back(function_text("add_one_function", {{"key_of_row", "_key"},
                                                     {"check_rule", of_dialect("check_rule")},
                                                     {"counted", "_slot"},
                                                     {"counted_first", "{first_slot}"},
                                                     {"replayed", "-1 - _slot"},
                                                     {"adds_number", "1"}}));
  texts.push_back(function_text("add_many_function", {{"key_of_row", "_rows._key"}, {"adds_number", "cardinality(_items)"}}));
  texts.push_back(text("rule_row"));
  if (has_slots_at_once(rule_)) texts.push_back(text("create_slots"));
  return texts;
}

std::vector<std::string> CounterSql::removal() const {
  std::vector<std::string> texts{text("drop_counter")};
  if (journal_) texts.push_back(text("drop_journal"));
  if (rule_.retries.window) texts.push_back(text("drop_purge"));
  if (once_) texts.push_back(text("drop_requests"));  // without ids a table of that name is somebody else's
  return texts;
}

std::vector<std::string> CounterSql::object_names() const {
  std::vector<std::string> names{counter_,           counter_ + "_slots",    counter_ + "_add",
                                 counter_ + "_add_one", counter_ + "_add_many", counter_ + "_total"};
  if (once_) names.push_back(counter_ + "_requests");
  if (rule_.retries.window) names.push_back(counter_ + "_purge");
  if (journal_) names.insert(names.end(), {counter_ + "_deltas", counter_ + "_fold"});
  return names;
}

}  // namespace splitcount::engine::postgresql
