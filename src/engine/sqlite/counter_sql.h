// The statements of one counter: names, fragments and variants put in by its rule.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <engine/statements.h>
#include <splitcount/rule.h>

namespace splitcount::engine::sqlite {

inline constexpr std::string_view dialect = "sqlite";
/// The steps in sql/sqlite/install.sql: the first takes the schema to version 1, and so on.
inline constexpr std::array<std::string_view, 1> schema_steps{"step_1"};
inline constexpr int schema_version_latest = static_cast<int>(schema_steps.size());

/// The text of sql/sqlite that every counter shares, with its fragments filled in.
[[nodiscard]] std::string shared_sql(std::string_view name);

class CounterSql {
 public:
  CounterSql(std::string_view counter, const Rule& rule);

  /// A statement of sql/sqlite. `key_value` stands for the key in create_slots: a parameter or a literal.
  [[nodiscard]] std::string text(std::string_view name, std::string_view key_value = "?1") const;
  /// What creates the counter, in order: its objects, its rule row, and the slots of a counter without a key whose
  /// missing is error. The same for create() and for the script.
  [[nodiscard]] std::vector<std::string> definition() const;
  /// What removes it.
  [[nodiscard]] std::vector<std::string> removal() const;
  /// The names that definition() takes in the database.
  [[nodiscard]] std::vector<std::string> object_names() const;

 private:
  void add_names(std::string_view counter, const Rule& rule);
  void add_key_fragments();
  void add_trigger_fragments(const Rule& rule);
  void add_rule_values(const Rule& rule);
  void put(std::string_view name, std::string value);

  std::string counter_;
  bool has_key_;
  bool once_;
  bool slots_at_once_;
  std::vector<Placeholder> placeholders_;
};

}  // namespace splitcount::engine::sqlite
