// The statements of one counter: names, fragments and variants put in by its rule.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <engine/statements.h>
#include <splitcount/rule.h>

namespace splitcount::engine::postgresql {

inline constexpr std::string_view dialect = "postgresql";
/// How long a function waits for a request id that another session has open, or for another one that folds.
inline constexpr int function_wait_s_max = 2;
/// The steps in sql/postgresql/install.sql: the first takes the schema to version 1, and so on.
inline constexpr std::array<std::string_view, 1> schema_steps{"step_1"};
inline constexpr int schema_version_latest = static_cast<int>(schema_steps.size());
/// Every name that schema_steps takes in the database.
inline constexpr std::array<std::string_view, 9> shared_object_names{
    "splitcount_schema", "splitcount_counters", "splitcount_streams", "splitcount_copied",      "splitcount_refuse",
    "splitcount_closed", "splitcount_session",  "splitcount_draw",    "splitcount_request_hash"};

/// The text of sql/postgresql that every counter shares. `schema` is quoted already.
[[nodiscard]] std::string shared_sql(std::string_view name, std::string_view schema);

/// The statements that need no more than a counter's names: adds, folds.
[[nodiscard]] std::string counter_sql(std::string_view name, std::string_view counter, const Rule& rule,
                                      std::string_view schema);
/// Those that also say where its rows are read: totals, slots, keys.
[[nodiscard]] std::string read_sql(std::string_view name, std::string_view counter, const Rule& rule,
                                   std::string_view schema);

class CounterSql {
 public:
  CounterSql(std::string_view counter, const Rule& rule, std::string_view schema);

  /// A statement that defines something. `key_value` stands for the key in create_slots.
  [[nodiscard]] std::string text(std::string_view name, std::string_view key_value = "NULL") const;
  /// What creates the counter, in order: its objects, its rule row, and the slots of a counter without a key whose
  /// missing is error. The same for create() and for the script.
  [[nodiscard]] std::vector<std::string> definition() const;
  /// What removes it.
  [[nodiscard]] std::vector<std::string> removal() const;
  /// The names that definition() takes in the database.
  [[nodiscard]] std::vector<std::string> object_names() const;

 private:
  void add_key_fragments();
  void add_example();
  void add_check_fragments();
  void add_pick_fragments();
  void add_write_fragments();
  void add_journal_fragments();
  void add_request_fragments();
  void add_rule_values();
  void put(std::string_view name, std::string value);
  void put_statement(std::string_view name, std::string_view statement_name);
  [[nodiscard]] std::string function_text(std::string_view name, std::vector<Placeholder> its_own) const;

  std::string counter_;
  const Rule& rule_;
  bool has_key_;
  bool once_;
  bool floating_;  // the function takes a slot that nobody holds
  bool journal_;
  std::vector<Placeholder> placeholders_;
};

}  // namespace splitcount::engine::postgresql
