#include <measure/remedy.h>

#include <array>

#include <fmt/format.h>

#include <base/limits.h>
#include <engine/statements.h>
#include <rule/name.h>

namespace splitcount::measure {
namespace {

/// What is left of a name within [a-z0-9_].
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain || is_capital) out += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    if (!is_plain && !is_capital && !out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

std::string counter_name(std::string_view table, std::string_view column) {
  auto name = plain(fmt::format("{} {}", table, column)).substr(0, limits::counter_name_bytes_max);
  while (name.ends_with('_')) name.pop_back();
  return rule::check_counter_name(name) ? name : std::string("hot_count");
}

std::string key_name(std::string_view column) {
  auto name = plain(column);
  return rule::check_key_name(name) ? name : std::string("item");
}

/// As SQL has it: names of columns come out of a statement, without their quotes.
std::string quoted_name(std::string_view name) {
  const bool is_plain = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == name.npos &&
                        (name.front() < '0' || name.front() > '9');
  if (is_plain) return std::string(name);
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

Remedy remedy_for(std::string_view dialect, std::string_view table_name, const std::string& table,
                  const Increment& increment, bool is_one_row) {
  Remedy remedy;
  remedy.counter = counter_name(table_name, increment.column);
  const bool has_key = !is_one_row && increment.has_condition;
  if (has_key) remedy.key_column = key_name(increment.key_column);
  const auto amount = increment.amount.empty() ? std::string("AMOUNT") : increment.amount;
  const bool is_one = amount == "1";
  const auto key = increment.key_column.empty() ? std::string("KEY") : quoted_name(increment.key_column);
  const std::array<engine::Placeholder, 7> values{
      engine::Placeholder{"counter", remedy.counter}, engine::Placeholder{"amount", is_one ? "" : "amount => " + amount},
      engine::Placeholder{"comma_amount", is_one ? "" : ", " + amount}, engine::Placeholder{"value", key},
      engine::Placeholder{"key", key}, engine::Placeholder{"column", quoted_name(increment.column)},
      engine::Placeholder{"table", table}};
  const auto sql = [&](std::string_view name) { return engine::fill(engine::statement(dialect, name), values); };
  remedy.add = has_key ? sql("doctor_add_to_key") : sql("doctor_add");
  remedy.read = has_key ? sql("doctor_read_key") : sql("doctor_read");
  remedy.carry = has_key ? sql("doctor_carry_key") : sql("doctor_carry");
  if (increment.asks_for_count) {
    remedy.cautions.emplace_back("the statement's condition asks for the count, and a counter cannot refuse an add by it: stock must not be kept so");
  }
  if (increment.returns_count) {
    remedy.cautions.emplace_back("the statement returns the count, and an add to a slot does not know the total: read it on its own");
  }
  if (has_key && increment.key_column.empty()) {
    remedy.cautions.emplace_back("which column is the key could not be told from the condition");
  }
  return remedy;
}

}  // namespace splitcount::measure
