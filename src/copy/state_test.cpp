#include <copy/state.h>

#include <gtest/gtest.h>

namespace splitcount::copy {
namespace {

TEST(State, IsReadAsItWasWritten) {
  const State written{7, 0xfedc'ba98'7654'3210, -5, Phase::copied, true, "a key\nof two lines "};
  const auto read = decode(encode(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->run, written.run);
  EXPECT_EQ(read->source_created, written.source_created);
  EXPECT_EQ(read->phase, written.phase);
  EXPECT_EQ(read->closed, written.closed);
  EXPECT_EQ(read->after, written.after);
}

TEST(State, OfANewerKindIsNotGuessedAt) {
  for (const auto* text : {"", "1", "2 1 1 1 0\n", "1 1 1 1 0", "1 x 1 1 0\n", "1 1 1 9 0\n", "1 1 1 0 0\n"}) {
    EXPECT_FALSE(decode(text)) << text;
  }
}

TEST(State, FitsWithTheLongestKeyIntoAStream) {
  State state{1, UINT64_MAX, INT64_MIN, Phase::complete, true, std::string(768, 'k')};
  EXPECT_LE(encode(state).size(), 1'024U);
}

}  // namespace
}  // namespace splitcount::copy
