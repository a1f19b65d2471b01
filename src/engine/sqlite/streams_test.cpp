#include <gtest/gtest.h>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

class Streams : public TestDatabase {
 protected:
  std::string advance(std::string_view stream, std::int64_t from, std::int64_t to, std::string_view checkpoint) {
    auto& c = connection();
    EXPECT_TRUE(c.begin(soon()));
    const auto moved = c.advance(stream, from, to, checkpoint);
    if (!moved) {
      c.rollback();
      return std::string(error_code_name(moved.error().code));
    }
    EXPECT_TRUE(c.commit());
    return *moved ? "moved" : "replay";
  }
};

TEST_F(Streams, MoveOnceAndKnowARepetition) {
  define("page_views", by_page());
  EXPECT_EQ(advance("s", 0, 10, "a"), "moved");
  EXPECT_EQ(advance("s", 0, 10, "a"), "replay");
  EXPECT_EQ(advance("s", 10, 25, "b"), "moved");
  EXPECT_EQ(advance("s", 10, 25, "b"), "replay");
  EXPECT_EQ(advance("s", 0, 25, "b"), "replay");
}

TEST_F(Streams, RefuseWhoeverComesFromElsewhere) {
  define("page_views", by_page());
  EXPECT_EQ(advance("s", 5, 10, ""), "stream_conflict");
  EXPECT_EQ(advance("s", 0, 10, "a"), "moved");
  EXPECT_EQ(advance("s", 0, 10, "other"), "stream_conflict");
  EXPECT_EQ(advance("s", 0, 11, "a"), "stream_conflict");
  EXPECT_EQ(advance("s", 9, 11, "a"), "stream_conflict");
  EXPECT_EQ(advance("s", 10, 10, "a"), "invalid_argument");
  EXPECT_EQ(advance("s", -1, 10, "a"), "invalid_argument");
}

TEST_F(Streams, CommitWithTheirAdds) {
  const auto counter = define("page_views", by_page());
  auto& c = connection();
  ASSERT_TRUE(c.begin(soon()));
  ASSERT_TRUE(c.advance("s", 0, 10, ""));
  ASSERT_TRUE(c.apply(counter, std::vector{to_key("k")}, Refusal::each));
  c.rollback();
  EXPECT_TRUE(c.streams("")->empty());
  EXPECT_FALSE(c.total(counter, "k").value());
}

TEST_F(Streams, AreListedByPrefixAndForgotten) {
  define("page_views", by_page());
  const std::string checkpoint("\0\xFFx", 3);
  EXPECT_EQ(advance("file/a/2", 0, 2, checkpoint), "moved");
  EXPECT_EQ(advance("file/a/1", 0, 1, ""), "moved");
  EXPECT_EQ(advance("file/ab/1", 0, 1, ""), "moved");
  EXPECT_EQ(advance("file/a", 0, 1, ""), "moved");
  const auto rows = connection().streams("file/a/");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].name, "file/a/1");
  EXPECT_EQ((*rows)[1].name, "file/a/2");
  EXPECT_EQ((*rows)[1].position, 2);
  EXPECT_EQ((*rows)[1].checkpoint, checkpoint);
  EXPECT_TRUE(connection().forget("file/a/2"));
  EXPECT_TRUE(connection().forget("never there"));
  EXPECT_EQ(connection().streams("file/a/")->size(), 1U);
  EXPECT_EQ(connection().streams("")->size(), 3U);
  EXPECT_EQ(advance("file/a/2", 0, 7, ""), "moved");
}

TEST_F(Streams, KeepTheirLimits) {
  define("page_views", by_page());
  EXPECT_EQ(advance(std::string(200, 's'), 0, 1, std::string(1'024, 'c')), "moved");
  EXPECT_NE(advance(std::string(201, 's'), 0, 1, ""), "moved");
  EXPECT_NE(advance("s", 0, 1, std::string(1'025, 'c')), "moved");
  EXPECT_NE(advance("", 0, 1, ""), "moved");
}

}  // namespace
}  // namespace splitcount::engine::sqlite
