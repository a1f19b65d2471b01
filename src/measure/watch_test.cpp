#include <measure/watch.h>

#include <gtest/gtest.h>

namespace splitcount::measure {
namespace {

constexpr std::int64_t table = 7;

std::string transaction(int number) { return std::to_string(number); }

TEST(watch, a_queue_whose_head_changes_is_one_hot_row) {
  Watch watch;
  for (int i = 0; i < 20; ++i) {
    watch.look({{table, {{3, 1}}, transaction(i), "a"}, {table, {}, transaction(i), "a"}, {table, {{2, 9}}, "", "b"}});
  }
  const auto& waits = watch.tables().at(table);
  EXPECT_TRUE(is_one_hot_row(waits, watch.looks()));
  EXPECT_EQ(waits.waiters_most, 3);
  EXPECT_EQ(most_frequent(waits.statements), "a");
}

TEST(watch, many_rows_that_are_waited_for_are_not) {
  Watch watch;
  for (int i = 0; i < 20; ++i) {
    watch.look({{table, {{1, 1}}, transaction(3 * i), ""}, {table, {{2, 1}}, transaction(3 * i + 1), ""}, {table, {}, transaction(3 * i + 2), ""}});
  }
  EXPECT_FALSE(is_one_hot_row(watch.tables().at(table), watch.looks()));
}

TEST(watch, nor_are_many_rows_of_transactions_that_hold_many) {
  Watch watch;
  for (int i = 0; i < 20; ++i) watch.look({{table, {{1, 1}}, transaction(i / 4), ""}, {table, {{1, 2}}, transaction(i / 4), ""}});
  EXPECT_FALSE(is_one_hot_row(watch.tables().at(table), watch.looks()));
}

TEST(watch, a_long_transaction_is_told_from_a_hot_row) {
  Watch watch;
  for (int i = 0; i < 20; ++i) watch.look({{table, {{1, 1}}, "one", ""}, {table, {{1, 1}}, "", ""}});
  EXPECT_FALSE(is_one_hot_row(watch.tables().at(table), watch.looks()));
  EXPECT_TRUE(is_one_long_transaction(watch.tables().at(table)));
}

TEST(watch, where_only_one_waits_at_a_time_it_must_be_often_and_on_one_page) {
  Watch one_page;
  Watch many_pages;
  Watch seldom;
  for (int i = 0; i < 100; ++i) {
    one_page.look({{table, {{5, i}}, transaction(i), ""}});
    many_pages.look({{table, {{i, 1}}, transaction(i), ""}});
    seldom.look(i % 10 == 0 ? std::vector<RowWait>{{table, {{5, i}}, transaction(i), ""}} : std::vector<RowWait>{});
  }
  EXPECT_TRUE(is_one_hot_row(one_page.tables().at(table), one_page.looks()));
  EXPECT_FALSE(is_one_hot_row(many_pages.tables().at(table), many_pages.looks()));
  EXPECT_FALSE(is_one_hot_row(seldom.tables().at(table), seldom.looks()));
}

}  // namespace
}  // namespace splitcount::measure
