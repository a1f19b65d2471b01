#include <engine/mariadb/counter_sql.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <base/limits.h>
#include <engine/mariadb/quote.h>
#include <engine/rule_row.h>
#include <rule/rule.h>

namespace splitcount::engine::mariadb {
namespace {

/// Fragments hold placeholders of their own, to this depth: procedure > claim > turn > statement > key.
constexpr int fragment_depth_max = 12;
/// One add in so many looks for expired ids, and takes twice as many with it.
constexpr int adds_per_purge = 10;
constexpr int purged_per_look = 2 * adds_per_purge;

std::string fill_all(std::string text, std::span<const Placeholder> placeholders) {
  for (int depth = 0; depth < fragment_depth_max; ++depth) {
    auto filled = fill(text, placeholders);
    if (filled == text) break;
    text = std::move(filled);
  }
  return text;
}

std::string of_dialect(std::string_view name) { return std::string(statement(dialect, name)); }

bool wants_free_slot(const Rule& rule) {
  return rule.pick == Pick::session || rule.pick == Pick::spread || rule.pick == Pick::free;
}

/// The procedure takes a slot that nobody holds. In a journal every slot is such a one.
bool is_floating(const Rule& rule) { return wants_free_slot(rule) && rule.layout != Layout::journal; }

std::string name_of(std::string_view counter, std::string_view ending) {
  return quote_name(fmt::format("{}{}", counter, ending));
}

void add_form(std::vector<Placeholder>& placeholders, Form form) {
  const bool script = form == Form::script;
  placeholders.push_back({"procedure_begin", script ? "DELIMITER //\n" : ""});
  placeholders.push_back({"procedure_end", script ? "//\nDELIMITER ;" : ";"});
}

std::vector<Placeholder> names_of(std::string_view counter, const Rule& rule) {
  std::vector<Placeholder> names{{"counter", quote_name(counter)},
                                 {"slots", name_of(counter, "_slots")},
                                 {"add", name_of(counter, "_add")},
                                 {"add_one", name_of(counter, "_add_one")},
                                 {"requests", name_of(counter, "_requests")},
                                 {"deltas", name_of(counter, "_deltas")},
                                 {"purge_ids", name_of(counter, "_purge")},
                                 {"fold", name_of(counter, "_fold")},
                                 {"name", quote_text(counter)},
                                 {"key", rule.key ? quote_name(*rule.key) : std::string()},
                                 {"key_list", rule.key ? quote_name(*rule.key) + ", " : std::string()},
                                 {"key_given", rule.key ? "?, " : ""},
                                 {"slots_number", fmt::format("{}", rule.slots)},
                                 {"slot_last", fmt::format("{}", rule.slots - 1)},
                                 {"created_us", of_dialect("created_us")},
                                 {"now_us", of_dialect("now_us")}};
  const bool journal = rule.layout == Layout::journal;
  names.push_back({"all", fill_all(of_dialect(journal ? "journal_all" : "slots_all"), names)});
  names.push_back({"rows", fill_all(of_dialect(journal ? "journal_rows" : "slots_all"), names)});
  return names;
}

}  // namespace

std::string shared_sql(std::string_view name, Form form) {
  std::vector<Placeholder> fragments{{"created_us", of_dialect("created_us")}, {"sql_mode", of_dialect("sql_mode")}};
  add_form(fragments, form);
  return fill(statement(dialect, name), fragments);
}

std::string counter_sql(std::string_view name, std::string_view counter, const Rule& rule) {
  return fill(statement(dialect, name), names_of(counter, rule));
}

std::string list_sql(std::string_view name, std::string_view counter, const Rule& rule, std::string_view placeholder,
                     std::string list) {
  const std::array<Placeholder, 1> value{Placeholder{std::string(placeholder), std::move(list)}};
  return fill(counter_sql(name, counter, rule), value);
}

CounterSql::CounterSql(std::string_view counter, const Rule& rule, Form form)
    : counter_(counter),
      rule_(rule),
      has_key_(rule.key.has_value()),
      once_(rule.retries.once),
      floating_(is_floating(rule)),
      journal_(rule.layout == Layout::journal),
      placeholders_(names_of(counter, rule)) {
  add_form(placeholders_, form);
  put("is_ready", form == Form::script ? "TRUE" : "FALSE");
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
  with_key("key_parameter", "IN {key} {key_text}, ");
  with_key("declare_key", "DECLARE _key VARBINARY(3076) DEFAULT {key};\n  ");
  with_key("of_key", "_s.{key} = _key AND ");
  with_key("same_key", "_r.{key} = _key AND ");
  put_statement("digits", "digits");
  put_statement("id_text", "id_text");
  put_statement("key_text", "key_text");
  put("key_column", has_key_ ? of_dialect("key_column") + "\n  " : std::string());
  put("key_of_all", has_key_ ? "_key, " : "");
}

/// The arguments of an add that is not refused.
void CounterSql::add_example() {
  std::vector<std::string> arguments;
  if (has_key_) arguments.emplace_back("'/home'");
  arguments.emplace_back("1");
  arguments.emplace_back(once_ ? "'7f3a'" : "NULL");
  arguments.emplace_back(rule_.pick == Pick::value ? "4711" : "NULL");
  arguments.emplace_back("NULL");
  put("add_example", fmt::format("{}", fmt::join(arguments, ", ")));
}

/// An argument that is a whole number or refused.
void CounterSql::put_number_of(std::string_view argument, std::string_view state, std::string_view sentence) {
  const std::array<Placeholder, 4> its_own{Placeholder{"number", fmt::format("_{}", argument)},
                                           Placeholder{"argument", std::string(argument)},
                                           Placeholder{"state", quote_text(state)},
                                           Placeholder{"sentence", std::string(sentence)}};
  put(fmt::format("number_of_{}", argument), fill(statement(dialect, "number_of"), its_own));
}

void CounterSql::add_check_fragments() {
  put("check_key", has_key_ ? of_dialect("check_key") : std::string());
  put_statement("refuse_mangled", "refuse_mangled");
  put_statement("check_request_id", once_ ? "check_request_id_once" : "check_request_id_count");
  put_statement("check_amount", "check_amount");
  put_statement("check_value", rule_.pick == Pick::value ? "check_value_needed" : "check_value_unwanted");
  put_statement("check_slot", "check_slot");
  put_statement("no_row", has_key_ ? "no_row_with_key" : "no_row");
  put_statement("slot_outside", "slot_outside");
  put_statement("amount_wrong", "amount_wrong");
  put_statement("value_wrong", "value_wrong");
  put_statement("key_wrong", "key_wrong");
  put_statement("id_in_flight", "id_in_flight");
  put_statement("sum_outside", "sum_outside");
  put_statement("no_slot", "no_slot");
  put_statement("take_back", "take_back");
  put_number_of("amount", "SC002", "{amount_wrong}");
  put_number_of("value", "SC003", "{value_wrong}");
  put_number_of("slot", "SC014", "{slot_outside}");
}

void CounterSql::add_pick_fragments() {
  put_statement("choose", floating_ ? "choose_floating" : "choose_fixed");
  put_statement("fixed_slot", rule_.pick == Pick::value     ? "fixed_value"
                              : rule_.pick == Pick::request ? "fixed_request"
                              : wants_free_slot(rule_)      ? "fixed_zero"
                                                            : "fixed_random");
  const bool spread = rule_.pick == Pick::spread;
  put("first_try", spread ? "-1" : "0");
  put("first_slot", spread || !floating_ ? "0" : "_own");
}

void CounterSql::add_write_fragments() {
  const bool create = rule_.missing == Missing::create;
  put("write", journal_ ? of_dialect("write_journal") : floating_ ? of_dialect("write_floating") : "{write_fixed}");
  put_statement("write_fixed", create ? "write_create" : "write_existing");
  put_statement("write_row", create ? "write_row_create" : "write_row_existing");
  put_statement("write_at_once", "write_at_once");
  put_statement("write_in_turn", "write_in_turn");
  put("look_for_row", create ? std::string() : of_dialect("look_for_row"));
  put("note_slot", once_ && floating_ ? of_dialect("note_slot") : std::string());
  put("turn_seconds", fmt::format("{}", turn_s_max));
}

void CounterSql::add_journal_fragments() {
  const bool create = rule_.missing == Missing::create;
  put("not_if_create", create ? "NOT " : "");
  put("can_append", create ? "NOT _found" : "_found");
  put("create_judged", create ? of_dialect("create_judged") : std::string());
  put("delta_key_column", has_key_ ? of_dialect("delta_key_column") : std::string());
  put("delta_key", has_key_ ? "_d.{key}" : "''");
  put("of_delta", has_key_ ? "_s.{key} = _d.{key} AND " : "");
  put_statement("append", "append");
  put_statement("turn_of_fold", "turn_of_fold");
  put_statement("write_judged", "write_judged");
  put_statement("fold_if_due", "fold_if_due");
  const auto put_number = [this](std::string_view name, std::int64_t number) { put(name, fmt::format("{}", number)); };
  put_number("amount_max", limits::journal_amount_max);
  put_number("slot_max", limits::journal_slot_max);
  put_number("deltas_max", limits::journal_deltas_max);
  put_number("look_once_in", limits::journal_adds_per_look);
  put_number("fold_deltas_max", limits::fold_deltas_max);
  put_number("fold_ms_max", limits::fold_ms_max);
}

void CounterSql::add_request_fragments() {
  const auto if_window = [this](std::string_view name, std::string_view statement_name) {
    put(name, rule_.retries.window ? of_dialect(statement_name) : std::string());
  };
  put("claim", once_ ? of_dialect("claim") : std::string());
  put_statement("claim_at_once", "claim_at_once");
  put_statement("claim_in_turn", "claim_in_turn");
  put_statement("claim_id", "claim_id");
  put_statement("judge_known", "judge_known");
  put_statement("turn", "turn");
  put_statement("on_known", rule_.retries.window ? "on_known_window" : "on_known_for_ever");
  put("key_update", has_key_ ? of_dialect("key_update") + "\n          " : std::string());
  if_window("purge", "purge");
  if_window("expiry_index", "expiry_index");
  put_statement("expired", "expired");
  put_statement("expired_r", "expired_r");
  put("purge_once_in", fmt::format("{}", adds_per_purge));
  put("purge_count", fmt::format("{}", purged_per_look));
  put("purge_max", fmt::format("{}", limits::purged_ids_max));
}

void CounterSql::add_rule_values() {
  put("schema_version", fmt::format("{}", schema_version_latest));
  put("key_name", has_key_ ? quote_text(*rule_.key) : std::string("NULL"));
  put("pick_word", quote_text(rule::to_text(rule_.pick)));
  put("missing_word", quote_text(rule::to_text(rule_.missing)));
  put("retries_word", quote_text(once_ ? "once" : "count"));
  put("layout_word", quote_text(rule::to_text(rule_.layout)));
  put("window_number", rule_.retries.window ? fmt::format("{}", rule_.retries.window->count()) : std::string("NULL"));
  put("object_list", fmt::format("{}", fmt::join(object_names(), ", ")));
}

std::string CounterSql::text(std::string_view name) const { return fill_all(of_dialect(name), placeholders_); }

/// A procedure, with what it alone puts into the shared fragments.
std::string CounterSql::routine_text(std::string_view name, std::vector<Placeholder> its_own) const {
  its_own.insert(its_own.end(), placeholders_.begin(), placeholders_.end());
  return fill_all(of_dialect(name), its_own);
}

std::string CounterSql::create_slots(std::span<const std::string> keys) const {
  std::string keys_values;
  for (const auto& key : keys) keys_values += fmt::format("{}({})", keys_values.empty() ? "" : ", ", quote_bytes(key));
  if (!has_key_) keys_values = "(0)";
  std::string slots_values;
  for (int slot = 0; slot < rule_.slots; ++slot) slots_values += fmt::format("{}({})", slot == 0 ? "" : ", ", slot);
  const std::array<Placeholder, 2> lists{Placeholder{"keys_values", std::move(keys_values)},
                                         Placeholder{"slots_values", std::move(slots_values)}};
  return fill(text("create_slots"), lists);
}

std::vector<std::string> CounterSql::objects() const {
  std::vector<std::string> texts{text(has_key_ ? "slots_table_with_key" : "slots_table")};
  if (journal_) texts.push_back(text("deltas_table"));
  texts.push_back(text(has_key_ ? "total_view_with_key" : "total_view"));
  if (once_) texts.push_back(text("requests_table"));
  if (rule_.retries.window) texts.push_back(text("purge_procedure"));
  if (journal_) texts.push_back(text("fold_procedure"));
  texts.push_back(
      routine_text("add_procedure", {{"check_rule", ""}, {"answer", of_dialect("answer_counted")}}));
  texts.push_back(routine_text("add_one_procedure",
                               {{"check_rule", of_dialect("check_rule")}, {"answer", of_dialect("answer_slot")}}));
  return texts;
}

std::vector<std::string> CounterSql::object_names() const {
  std::vector<std::string> names{counter_, counter_ + "_slots", counter_ + "_add", counter_ + "_add_one"};
  if (once_) names.push_back(counter_ + "_requests");
  if (rule_.retries.window) names.push_back(counter_ + "_purge");
  if (journal_) names.insert(names.end(), {counter_ + "_deltas", counter_ + "_fold"});
  return names;
}

}  // namespace splitcount::engine::mariadb
