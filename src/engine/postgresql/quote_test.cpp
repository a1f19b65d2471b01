#include <engine/postgresql/quote.h>

#include <gtest/gtest.h>

namespace splitcount::engine::postgresql {
namespace {

TEST(PostgresqlQuote, LeavesPlainNamesAndQuotesOthers) {
  EXPECT_EQ(quote_name("page_views"), "page_views");
  EXPECT_EQ(quote_name("position"), "\"position\"");
  EXPECT_EQ(quote_name("Page"), "\"Page\"");
  EXPECT_EQ(quote_name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quote_name(""), "\"\"");
}

TEST(PostgresqlQuote, WritesTextsThatMeanTheSameWhateverTheServersSetting) {
  EXPECT_EQ(quote_text("it's"), "'it''s'");
  EXPECT_EQ(quote_text("a\\b'"), "E'a\\\\b'''");
}

TEST(PostgresqlQuote, KeepsArrayElementsApart) {
  std::string array = "{";
  for (const auto* text : {"a", "b,c", "q\"", "back\\", "", "NULL", "{}"}) append_element(array, text);
  EXPECT_EQ(array, R"({"a","b,c","q\"","back\\","","NULL","{}")");
}

}  // namespace
}  // namespace splitcount::engine::postgresql
