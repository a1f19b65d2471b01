#include <engine/sqlite/quote.h>

#include <gtest/gtest.h>

namespace splitcount::engine::sqlite {
namespace {

TEST(Quote, LeavesPlainNamesAsTheyAre) {
  EXPECT_EQ(quote_name("page_views_slots"), "page_views_slots");
  EXPECT_EQ(quote_name("a1"), "a1");
}

TEST(Quote, PutsAllOtherNamesIntoDoubleQuotes) {
  EXPECT_EQ(quote_name("order"), "\"order\"");
  EXPECT_EQ(quote_name("Page"), "\"Page\"");
  EXPECT_EQ(quote_name("1a"), "\"1a\"");
  EXPECT_EQ(quote_name(""), "\"\"");
  EXPECT_EQ(quote_name("a\"; DROP TABLE b"), "\"a\"\"; DROP TABLE b\"");
}

TEST(Quote, DoublesTheQuotesOfATextOnly) {
  EXPECT_EQ(quote_text("O'Hara \"x\" \\ {key}"), "'O''Hara \"x\" \\ {key}'");
  EXPECT_EQ(quote_text(""), "''");
}

}  // namespace
}  // namespace splitcount::engine::sqlite
