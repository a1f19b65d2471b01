#include <fmt/format.h>
#include <gtest/gtest.h>

#include <base/limits.h>
#include <engine/sqlite/counter_sql.h>
#include <engine/sqlite/quote.h>
#include <engine/sqlite/test_database.h>
#include <rule/name.h>

namespace splitcount::engine::sqlite {
namespace {

using Schema = TestDatabase;

constexpr auto all_objects = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name, tbl_name";
constexpr auto all_rules =
    "SELECT name, version, key_column, slots, pick, missing, retries, window_seconds, freshness, layout "
    "FROM splitcount_counters ORDER BY name";

/// One of each variant of the statements.
std::vector<std::pair<std::string, Rule>> every_kind_of_rule() {
  std::vector<std::pair<std::string, Rule>> rules;
  for (const bool keyed : {true, false}) {
    for (const auto pick : {Pick::session, Pick::spread, Pick::random, Pick::request, Pick::free, Pick::value}) {
      for (const auto missing : {Missing::error, Missing::create}) {
        for (const int retries : {0, 1, 2}) {
          Rule rule;
          if (keyed) rule.key = "page";
          rule.slots = 11;
          rule.pick = pick;
          rule.missing = missing;
          rule.retries.once = retries > 0;
          if (retries == 2) rule.retries.window = std::chrono::hours(24);
          if (pick == Pick::request && retries == 0) continue;
          rules.emplace_back(fmt::format("c{}", rules.size()), rule);
        }
      }
    }
  }
  return rules;
}

TEST_F(Schema, KeepsTheRuleAsItWasGiven) {
  for (const auto& [name, rule] : every_kind_of_rule()) {
    const auto counter = define(name, rule);
    EXPECT_EQ(counter.name, name);
    EXPECT_EQ(counter.rule, rule);
    EXPECT_LT(now_utc() - counter.created_at, std::chrono::minutes(1));
    EXPECT_GT(now_utc() - counter.created_at, std::chrono::minutes(-1));
  }
  const auto counters = connection().list();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->size(), every_kind_of_rule().size());
}

TEST_F(Schema, CountsTheSameByLibraryAndByViewForEveryKindOfRule) {
  for (const auto& [name, rule] : every_kind_of_rule()) {
    const std::vector<std::string> keys = rule.key ? std::vector<std::string>{"k"} : std::vector<std::string>{};
    const auto counter = define(name, rule, keys);
    ReadyAdd one{.key = rule.key ? "k" : "", .amount = 40, .request_id = rule.retries.once ? "X" : "", .slot = 3};
    EXPECT_EQ(add(counter, one), "3") << name;
    EXPECT_EQ(
        plain().run(fmt::format("INSERT INTO {}_add({}amount, value) VALUES ({}2, {})", name, rule.key ? "page, " : "",
                                rule.key ? "'k', " : "", rule.pick == Pick::value ? "-5" : "NULL")),
        "")
        << name;
    EXPECT_EQ(plain().rows(fmt::format("SELECT total FROM {}", name)), "42") << name;
    EXPECT_EQ(plain().rows(fmt::format("SELECT count(*) FROM {}_slots", name)).empty(), false) << name;
  }
}

TEST_F(Schema, IsTheSameFromTheScript) {
  const std::vector<std::string> keys{"/home", "O'Hara", "{slots}", "\xC3\xA9"};
  for (const auto& [name, rule] : every_kind_of_rule())
    define(name, rule, rule.key ? keys : std::vector<std::string>{});
  TestFolder other;
  Plain by_hand(other.file("by-hand.db"));
  for (const auto& [name, rule] : every_kind_of_rule()) {
    const auto text = script("sqlite", name, rule, rule.key ? keys : std::vector<std::string>{});
    ASSERT_TRUE(text);
    EXPECT_EQ(by_hand.run("BEGIN IMMEDIATE;" + *text + "COMMIT;"), "") << *text;
    EXPECT_EQ(by_hand.rows(fmt::format("SELECT * FROM {}_slots", name)),
              plain().rows(fmt::format("SELECT * FROM {}_slots", name)));
  }
  EXPECT_EQ(by_hand.rows(all_objects), plain().rows(all_objects));
  EXPECT_EQ(by_hand.rows(all_rules), plain().rows(all_rules));
  EXPECT_EQ(by_hand.rows("SELECT * FROM splitcount_schema"), plain().rows("SELECT * FROM splitcount_schema"));
}

TEST_F(Schema, TheScriptFailsTheSecondTimeAndChangesNothing) {
  Plain by_hand(path());
  const auto text = script("sqlite", "page_views", by_page(), {});
  ASSERT_TRUE(text);
  EXPECT_EQ(by_hand.run("BEGIN IMMEDIATE;" + *text + "COMMIT;"), "");
  by_hand.run("INSERT INTO page_views_add(page) VALUES ('k')");
  EXPECT_NE(by_hand.run("BEGIN IMMEDIATE;" + *text + "COMMIT;").find("page_views_slots already exists"),
            std::string::npos);
  by_hand.run("ROLLBACK");
  EXPECT_EQ(by_hand.rows("SELECT * FROM page_views"), "k|1");
  EXPECT_EQ(by_hand.rows("SELECT version FROM splitcount_counters"), "1");
}

TEST_F(Schema, LeavesNoPlaceholderInTheScript) {
  for (const auto& [name, rule] : every_kind_of_rule()) {
    const auto text = script("sqlite", name, rule, {});
    ASSERT_TRUE(text);
    EXPECT_EQ(text->find('{'), std::string::npos) << text->substr(text->find('{'), 40);
  }
}

TEST_F(Schema, GivesEachKeyAllItsSlots) {
  auto rule = by_page();
  rule.slots = 3;
  const auto counter = define("page_views", rule);
  ASSERT_EQ(add(counter, to_key("b", 5, 1)), "1");
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  const auto added = c.create_keys(counter, std::vector<std::string>{"a", "b", "a"});
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, 1);
  EXPECT_EQ(code_of(c.create_keys(counter, std::vector<std::string>{""})), "key_invalid");
  ASSERT_TRUE(c.commit());
  EXPECT_EQ(plain().rows("SELECT * FROM page_views_slots"), "a|0|0 a|1|0 a|2|0 b|0|0 b|1|5 b|2|0");
}

TEST_F(Schema, NamesWhatIsInTheWay) {
  define("first", by_page());
  auto rule = by_page();
  rule.retries.once = true;
  const std::vector<std::pair<std::string, std::string>> clashes{
      {"CREATE TABLE Page_Views(a)", "table \"Page_Views\""},
      {"CREATE VIEW page_views_SLOTS AS SELECT 1", "view \"page_views_SLOTS\""},
      {"CREATE TABLE t(a); CREATE INDEX page_views_add ON t(a)", "index \"page_views_add\""},
      {"CREATE TABLE t(a); CREATE TRIGGER page_views_requests AFTER INSERT ON t BEGIN SELECT 1; END",
       "trigger \"page_views_requests\""}};
  for (const auto& [sql, named] : clashes) {
    plain().run("BEGIN;" + sql + "; COMMIT");
    auto& c = connection();
    ASSERT_TRUE(c.begin(soon()));
    const auto created = c.create("page_views", rule);
    ASSERT_FALSE(created) << sql;
    EXPECT_EQ(created.error().code, ErrorCode::name_clash);
    EXPECT_NE(created.error().message.find(named), std::string::npos) << created.error().message;
    c.rollback();
    plain().run("DROP TABLE IF EXISTS Page_Views; DROP VIEW IF EXISTS page_views_slots; DROP TABLE IF EXISTS t");
  }
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  EXPECT_EQ(code_of(c.create("first", rule)), "name_clash");
  EXPECT_EQ(code_of(c.create("first_slots", rule)), "name_invalid");
  c.rollback();
}

TEST_F(Schema, LeavesATableOfTheUserAloneThatOnlyLooksLikeOurs) {
  connection();
  plain().run("CREATE TABLE page_views_requests(mine)");
  const auto counter = define("page_views", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.drop(counter));
  ASSERT_TRUE(c.uninstall());
  ASSERT_TRUE(c.commit());
  EXPECT_EQ(plain().rows("SELECT name FROM sqlite_schema"), "page_views_requests");
}

TEST_F(Schema, RefusesToInstallOverTablesOfTheUser) {
  auto& c = connection();
  plain().run("CREATE TABLE splitcount_Counters(mine)");
  ASSERT_TRUE(c.begin(soon()));
  EXPECT_EQ(code_of(c.install()), "name_clash");
  c.rollback();
}

TEST_F(Schema, DropAndUninstallLeaveNothing) {
  auto& c = connection();
  EXPECT_EQ(c.schema_version().value(), 0);
  std::vector<StoredCounter> counters;
  for (const auto& [name, rule] : every_kind_of_rule()) counters.push_back(define(name, rule));
  EXPECT_EQ(c.schema_version().value(), schema_version_latest);
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.advance("file/c0/a", 0, 5, ""));
  ASSERT_TRUE(c.advance("file/c01/a", 0, 5, ""));
  EXPECT_EQ(code_of(c.uninstall()), "invalid_argument");
  for (const auto& counter : counters) ASSERT_TRUE(c.drop(counter));
  EXPECT_EQ(c.streams("")->size(), 1U);
  ASSERT_TRUE(c.uninstall());
  ASSERT_TRUE(c.commit());
  EXPECT_EQ(plain().rows(all_objects), "");
}

TEST_F(Schema, NeverGivesAVersionTwice) {
  const auto first = define("a", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.drop(first));
  ASSERT_TRUE(c.commit());
  EXPECT_GT(define("b", by_page()).version, first.version);
}

TEST_F(Schema, SaysThatThereIsNothingYet) {
  auto& c = connection();
  EXPECT_EQ(code_of(c.find("a")), "not_installed");
  EXPECT_EQ(code_of(c.list()), "not_installed");
  EXPECT_EQ(code_of(c.streams("")), "not_installed");
  EXPECT_EQ(code_of(c.total(StoredCounter{.name = "a", .version = 1, .rule = {}, .created_at = {}}, std::nullopt)),
            "not_installed");
}

TEST_F(Schema, RefusesADatabaseOfANewerSplitcount) {
  define("a", by_page());
  plain().run("UPDATE splitcount_schema SET version = 2");
  EXPECT_EQ(code_of(connection().find("a")), "schema_too_new");
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  EXPECT_EQ(code_of(c.install()), "schema_too_new");
  c.rollback();
  const auto text = script("sqlite", "b", by_page(), {});
  EXPECT_NE(plain().run("BEGIN;" + *text + "COMMIT"), "");
}

TEST_F(Schema, RefusesADatabaseThatStoresTextOtherwise) {
  plain().run("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a)");
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  EXPECT_EQ(code_of(c.install()), "not_on_this_engine");
  c.rollback();
}

TEST_F(Schema, TakesARuleWrittenByHandOnlyWhereItIsOne) {
  define("a", by_page());
  const std::string insert =
      "INSERT INTO splitcount_counters(name, version, key_column, slots, pick, missing, retries, window_seconds) "
      "VALUES ";
  for (const auto* row :
       {"('B', 9, NULL, 1, 'spread', 'create', 'count', NULL)", "('b', 9, NULL, 0, 'spread', 'create', 'count', NULL)",
        "('b', 9, NULL, 1025, 'spread', 'create', 'count', NULL)",
        "('b', 9, NULL, 1, 'first', 'create', 'count', NULL)", "('b', 9, NULL, 1, 'spread', 'ignore', 'count', NULL)",
        "('b', 9, NULL, 1, 'spread', 'create', 'twice', NULL)", "('b', 9, NULL, 1, 'spread', 'create', 'count', 60)",
        "('b', 9, NULL, 1, 'spread', 'create', 'once', 0)", "('b', 1, NULL, 1, 'spread', 'create', 'count', NULL)",
        "('b', 9, 'Page', 1, 'spread', 'create', 'count', NULL)"}) {
    EXPECT_NE(plain().run(insert + row), "") << row;
  }
  EXPECT_EQ(plain().run(insert + "('b', 9, NULL, 1, 'spread', 'create', 'once', 60)"), "");
  EXPECT_EQ(connection().find("b").value()->rule.retries.window, std::chrono::seconds(60));
  // The table cannot know that this pick needs ids.
  EXPECT_EQ(plain().run(insert + "('c', 10, NULL, 1, 'request', 'create', 'count', NULL)"), "");
  EXPECT_EQ(code_of(connection().find("c")), "rule_invalid");
}

TEST_F(Schema, TakesEveryKeyNameThatTheRulesAllow) {
  std::vector<std::string> names{"excluded", "new",     "old",  "rule", "name", "slots",
                                 "pick",     "version", "high", "low",  "page", "c"};
  for (int i = 0; i < sqlite3_keyword_count(); ++i) {
    const char* word = nullptr;
    int length = 0;
    ASSERT_EQ(sqlite3_keyword_name(i, &word, &length), SQLITE_OK);
    std::string lower(word, static_cast<std::size_t>(length));
    for (char& c : lower) c = static_cast<char>(c | 0x20);
    names.push_back(lower);
  }
  auto rule = by_page();
  rule.retries = {.once = true, .window = std::chrono::hours(1)};
  int allowed = 0;
  for (const auto& name : names) {
    if (!rule::check_key_name(name)) continue;
    rule.key = name;
    const auto counter = define(fmt::format("c{}", allowed++), rule, {"k"});
    EXPECT_EQ(add(counter, to_key("k", 40, 0, "X")), "0") << name;
    const auto column = quote_name(name);
    EXPECT_EQ(plain().run(fmt::format("INSERT INTO {}_add({}, amount, request_id) VALUES ('k', 40, 'X'), ('k', 2, 'Y')",
                                      counter.name, column)),
              "")
        << name;
    EXPECT_EQ(plain().rows(fmt::format("SELECT {}, total FROM {}", column, counter.name)), "k|42") << name;
    EXPECT_EQ(connection().totals(counter, std::vector<std::string>{"k"})->front().total, 42) << name;
    EXPECT_EQ(connection().top(counter, 1)->front().total, 42) << name;
  }
  EXPECT_GT(allowed, 5);
}

TEST_F(Schema, MayHaveACounterNamedLikeItsKey) {
  const auto counter = define("page", by_page());
  EXPECT_EQ(add(counter, to_key("k")), "0");
  EXPECT_EQ(plain().run("INSERT INTO page_add(page) VALUES ('k')"), "");
  EXPECT_EQ(plain().rows("SELECT page, total FROM page"), "k|2");
}

TEST_F(Schema, HasTheLimitsOfTheLibrary) {
  EXPECT_EQ(limits::slots_max, 1024);
  EXPECT_EQ(limits::key_bytes_max, 768U);
  EXPECT_EQ(limits::request_id_bytes_max, 128U);
  EXPECT_EQ(limits::counter_name_bytes_max, 40U);
  EXPECT_EQ(limits::stream_name_bytes_max, 200U);
  EXPECT_EQ(limits::checkpoint_bytes_max, 1'024U);
  EXPECT_EQ(limits::window_seconds_max, 316'224'000);
}

}  // namespace
}  // namespace splitcount::engine::sqlite
