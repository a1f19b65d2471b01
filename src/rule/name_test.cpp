#include <rule/name.h>

#include <string>

#include <gtest/gtest.h>

namespace splitcount::rule {
namespace {

TEST(CheckCounterName, TakesLettersDigitsAndUnderscores) {
  for (const std::string name : {"page_views", "prizes_won", "x", "a1_", "slots", "adds", "total_views", "postgres"}) {
    EXPECT_TRUE(check_counter_name(name)) << name;
  }
  EXPECT_TRUE(check_counter_name(std::string(40, 'a')));
}

TEST(CheckCounterName, RefusesEveryOtherForm) {
  for (const std::string name :
       {"", "Page", "1x", "_x", "a-b", "a b", "a;drop table x", "a'b", "a\"b", "p\xC3\xA5", "a\n", "a.b"}) {
    EXPECT_EQ(check_counter_name(name).error().code, ErrorCode::name_invalid) << name;
  }
  EXPECT_FALSE(check_counter_name(std::string(41, 'a')));
  EXPECT_FALSE(check_counter_name(std::string(200, 'a')));
  EXPECT_FALSE(check_counter_name(std::string("a\0", 2)));
}

TEST(CheckCounterName, SaysWhatWouldBeRight) {
  EXPECT_EQ(check_counter_name("Page Views").error().message,
            "a counter's name is [a-z][a-z0-9_]{0,39}, and \"Page Views\" is not");
  EXPECT_EQ(check_counter_name("select").error().message,
            "a counter's name cannot be \"select\", a reserved word of SQL or of splitcount; choose another");
}

TEST(CheckCounterName, RefusesNamesOfOurOwnObjects) {
  for (const std::string ending : {"_slots", "_add", "_requests", "_history", "_total", "_deltas"}) {
    const auto checked = check_counter_name("page_views" + ending);
    ASSERT_FALSE(checked) << ending;
    EXPECT_EQ(checked.error().code, ErrorCode::name_invalid);
    EXPECT_NE(checked.error().message.find("cannot end in " + ending), std::string::npos);
  }
  for (const std::string name : {"splitcount_counters", "splitcount_x", "sqlite_master", "pg_class", "splitcount"}) {
    EXPECT_FALSE(check_counter_name(name)) << name;
  }
}

TEST(CheckKeyName, TakesTheColumnsThatPeopleHave) {
  for (const std::string name :
       {"page", "views", "target", "path", "host", "status", "referer", "agent", "line", "item", "name", "day", "hour",
        "type", "language", "domain", "id", "country", "page_add"}) {
    EXPECT_TRUE(check_key_name(name)) << name;
  }
}

TEST(CheckKeyName, RefusesOurOwnColumns) {
  for (const std::string name : {"slot", "n", "amount", "request_id", "value", "total", "counted", "as_of", "delta"}) {
    EXPECT_FALSE(check_key_name(name)) << name;
  }
  EXPECT_EQ(check_key_name("slot").error().message,
            "a key column's name cannot be \"slot\", a reserved word of SQL or of splitcount; choose another");
}

TEST(IsReserved, KnowsEveryDialect) {
  for (const std::string word : {"select", "table", "order", "group", "by", "user"}) EXPECT_TRUE(is_reserved(word));
  for (const std::string word : {"asymmetric", "variadic", "system_user", "ctid"}) {
    EXPECT_TRUE(is_reserved(word)) << word << " of PostgreSQL";
  }
  for (const std::string word :
       {"key", "rank", "groups", "lines", "json_table", "returning", "page_checksum", "qualify"}) {
    EXPECT_TRUE(is_reserved(word)) << word << " of MySQL and MariaDB";
  }
  for (const std::string word : {"autoincrement", "index", "notnull", "transaction", "rowid"}) {
    EXPECT_TRUE(is_reserved(word)) << word << " of SQLite";
  }
  for (const std::string word : {"browse", "file", "plan", "rule", "top", "semanticsimilaritydetailstable"}) {
    EXPECT_TRUE(is_reserved(word)) << word << " of Transact-SQL";
  }
  for (const std::string word : {"date", "level", "number", "size", "session", "varchar2", "rownum"}) {
    EXPECT_TRUE(is_reserved(word)) << word << " of Oracle";
  }
  for (const std::string word : {"absolute", "translation", "sqlca"})
    EXPECT_TRUE(is_reserved(word)) << word << " of ODBC";
}

TEST(IsReserved, ComparesWholeWords) {
  for (const std::string word : {"", "selec", "selects", "SELECT", "zzz", "a"}) EXPECT_FALSE(is_reserved(word)) << word;
}

}  // namespace
}  // namespace splitcount::rule
