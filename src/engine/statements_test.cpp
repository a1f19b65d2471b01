#include <engine/statements.h>

#include <array>

#include <gtest/gtest.h>

namespace splitcount::engine {
namespace {

TEST(Fill, ReplacesWhatHasAValueAndLeavesTheRest) {
  const std::array<Placeholder, 2> values{Placeholder{"a", "1"}, Placeholder{"ab", "{a}"}};
  EXPECT_EQ(fill("{a} {ab} {c} { {a", values), "1 {a} {c} { {a");
  EXPECT_EQ(fill("", values), "");
  EXPECT_EQ(fill("{{a}}", values), "{1}");
}

TEST(Statement, EndsBeforeTheCommentOfTheNextOne) {
  EXPECT_EQ(statement("sqlite", "commit"), "COMMIT");
  EXPECT_EQ(statement("sqlite", "rollback"), "ROLLBACK");
}

TEST(Statement, KeepsCommentsBetweenItsOwnParts) {
  const auto step = statement("sqlite", "step_1");
  EXPECT_NE(step.find("-- The rules: how each counter counts."), std::string_view::npos);
  EXPECT_TRUE(step.ends_with("WITHOUT ROWID;"));
}

TEST(Statement, MayBeAllComment) { EXPECT_TRUE(statement("sqlite", "script_install").starts_with("-- What")); }

}  // namespace
}  // namespace splitcount::engine
