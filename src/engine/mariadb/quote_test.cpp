#include <engine/mariadb/quote.h>

#include <gtest/gtest.h>

namespace splitcount::engine::mariadb {
namespace {

TEST(MariadbQuote, DoublesTheMarkWithinANameOrAText) {
  EXPECT_EQ(quote_name("page_views"), "`page_views`");
  EXPECT_EQ(quote_name("a`b"), "`a``b`");
  EXPECT_EQ(quote_text("it's"), "'it''s'");
  EXPECT_EQ(quote_text(""), "''");
}

TEST(MariadbQuote, WritesBytesAsDigitsWhereTheTextCouldMeanSomethingElse) {
  EXPECT_EQ(quote_text("a\\'b"), "x'615c2762'");
  EXPECT_EQ(quote_bytes(std::string_view("\0\xff", 2)), "x'00ff'");
  EXPECT_EQ(quote_bytes(""), "x''");
}

}  // namespace
}  // namespace splitcount::engine::mariadb
