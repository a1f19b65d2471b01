// The statements of one counter: names, fragments and variants put in by its rule.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/statements.h>
#include <splitcount/rule.h>

namespace splitcount::engine::mariadb {

inline constexpr std::string_view dialect = "mariadb";
/// How long an add waits for a request id, or a row being made, that another session has open.
inline constexpr int turn_s_max = 2;
/// The steps in sql/mariadb/install.sql: the first takes the schema to version 1, and so on.
inline constexpr std::array<std::string_view, 1> schema_steps{"step_1"};
inline constexpr int schema_version_latest = static_cast<int>(schema_steps.size());
/// Every name that schema_steps takes in the database.
inline constexpr std::array<std::string_view, 5> shared_object_names{"splitcount_schema", "splitcount_counters", "splitcount_streams",
                                                                     "splitcount_copied", "splitcount_session"};

/// Routines hold semicolons: a script for the client says so, and what we send ourselves need not.
enum class Form : std::uint8_t { sent, script };

/// The text of sql/mariadb that every counter shares.
[[nodiscard]] std::string shared_sql(std::string_view name, Form form = Form::sent);

/// A statement about a counter that needs its names and where its rows are read.
[[nodiscard]] std::string counter_sql(std::string_view name, std::string_view counter, const Rule& rule);
/// The same with the names or keys of a list: literals, separated by commas.
[[nodiscard]] std::string list_sql(std::string_view name, std::string_view counter, const Rule& rule,
                                   std::string_view placeholder, std::string list);

class CounterSql {
 public:
  CounterSql(std::string_view counter, const Rule& rule, Form form = Form::sent);

  /// A statement that defines something.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Gives each of these keys (one without a key: the counter itself) all of its slots.
  [[nodiscard]] std::string create_slots(std::span<const std::string> keys) const;
  /// What creates the counter's objects, in order.
  [[nodiscard]] std::vector<std::string> objects() const;
  /// The names that objects() takes in the database.
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
  void put_number_of(std::string_view argument, std::string_view state, std::string_view sentence);
  [[nodiscard]] std::string routine_text(std::string_view name, std::vector<Placeholder> its_own) const;

  std::string counter_;
  const Rule& rule_;
  bool has_key_;
  bool once_;
  bool floating_;  // the procedure takes a slot that nobody holds
  bool journal_;
  std::vector<Placeholder> placeholders_;
};

}  // namespace splitcount::engine::mariadb
