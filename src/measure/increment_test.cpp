#include <measure/increment.h>

#include <gtest/gtest.h>

namespace splitcount::measure {
namespace {

Increment only(std::string_view text) {
  const auto found = increments(text);
  EXPECT_EQ(found.size(), 1U) << text;
  return found.empty() ? Increment{} : found.front();
}

TEST(increment, is_found_in_each_form_that_counting_is_written_in) {
  for (const auto* text : {
           "UPDATE votes SET n = n + 1", "update ONLY votes * set n=n+1 where id = 7", "UPDATE votes AS v SET n = v.n + 1 WHERE v.id = $1",
           "UPDATE votes v SET name = 'a, b', n = coalesce(v.n, 0) + 1", "UPDATE votes SET n = 1 + n RETURNING id",
           "BEGIN; SELECT 1; UPDATE votes SET n = n + 1 WHERE id = 1; COMMIT", "WITH a AS (UPDATE votes SET n = n + 1) SELECT 1",
           "/* UPDATE x SET y = y + 1 */ UPDATE votes SET n = n + 1 -- UPDATE z SET a = a + 1",
           "INSERT INTO votes(id, n) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = votes.n + 1",
           "MERGE INTO votes USING x ON true WHEN MATCHED THEN UPDATE SET n = votes.n + 1",
           "CREATE TRIGGER t AFTER UPDATE OF a ON cars BEGIN UPDATE votes SET n = n + 1; END"}) {
    const auto found = only(text);
    EXPECT_EQ(found.table, "votes") << text;
    EXPECT_EQ(found.column, "n") << text;
    EXPECT_EQ(found.amount, "1") << text;
    EXPECT_EQ(found.schema, "") << text;
    EXPECT_FALSE(found.asks_for_count) << text;
    EXPECT_FALSE(found.returns_count) << text;
  }
}

TEST(increment, names_are_read_as_the_database_reads_them) {
  const auto found = only("UPDATE \"My\"\"Shop\".VOTES SET \"N \n\" = \"N \n\" - $2 WHERE \"Id\" = $1");
  EXPECT_EQ(found.schema, "My\"Shop");
  EXPECT_EQ(found.table, "votes");
  EXPECT_EQ(found.column, "N \n");
  EXPECT_EQ(found.amount, "-$2");
  EXPECT_EQ(found.key_column, "Id");
}

TEST(increment, the_key_is_the_column_of_an_equality_that_is_all) {
  EXPECT_EQ(only("UPDATE t SET n = n + 1 WHERE id = 7").key_column, "id");
  EXPECT_EQ(only("UPDATE t SET n = n + 1 WHERE t.page = '/home'::text").key_column, "page");
  EXPECT_EQ(only("UPDATE t SET n = n + 1 WHERE id = NEW.car;").key_column, "id");
  EXPECT_EQ(only("INSERT INTO t VALUES (1) ON CONFLICT (page) DO UPDATE SET n = t.n + excluded.n").key_column, "page");
  EXPECT_EQ(only("UPDATE t SET n = n + 1 WHERE a = 1 AND b = 2").key_column, "");
  EXPECT_EQ(only("UPDATE t SET n = n + 1").key_column, "");
  EXPECT_FALSE(only("UPDATE t SET n = n + 1").has_condition);
  EXPECT_TRUE(only("UPDATE t SET n = n + 1 WHERE a < 1").has_condition);
}

TEST(increment, it_is_seen_where_the_count_is_asked_for_or_returned) {
  EXPECT_TRUE(only("UPDATE t SET stock = stock - 1 WHERE id = 1 AND stock > 0").asks_for_count);
  EXPECT_TRUE(only("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n").returns_count);
  EXPECT_TRUE(only("UPDATE t SET n = n + 1 RETURNING *").returns_count);
}

TEST(increment, what_is_no_counting_is_left_alone) {
  for (const auto* text : {"UPDATE t SET n = 5", "UPDATE t SET n = m + 1", "UPDATE t SET n = n * 2", "UPDATE t SET n = n",
                           "SELECT n + 1 FROM t FOR UPDATE", "UPDATE t SET (a, b) = (a + 1, 2)", "SELECT 'UPDATE t SET n = n + 1'",
                           "SELECT $x$UPDATE t SET n = n + 1$x$", "UPDATE", "UPDATE t SET", "UPDATE t SET n", "UPDATE t SET n =", "",
                           "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET n = excluded.n + 1", "UPDATE t SET n = 'cut o"}) {
    EXPECT_TRUE(increments(text).empty()) << text;
  }
}

TEST(increment, a_shape_hides_texts_and_comments) {
  EXPECT_EQ(shape_of("UPDATE  t -- why\n SET n = n + 12 /* a */ WHERE p = 'it''s' AND q = E'\\'x' AND r = $1", false),
            "UPDATE t SET n = n + 12 WHERE p = '?' AND q = '?' AND r = $1");
  EXPECT_EQ(shape_of("UPDATE t SET n=n+12 WHERE id = 7", true), "UPDATE t SET n=n+? WHERE id = ?");
}

}  // namespace
}  // namespace splitcount::measure
