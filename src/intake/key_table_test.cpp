#include <intake/key_table.h>

#include <deque>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace splitcount::intake {
namespace {

TEST(KeyTable, TellsKeysWithTheSameHashApart) {
  KeyTable table;
  table.insert({7, "a", 1});
  table.insert({7, "b", 2});
  ASSERT_NE(table.find("b", 7), nullptr);
  EXPECT_EQ(table.find("b", 7)->count, 2U);
  EXPECT_EQ(table.find("c", 7), nullptr);
  EXPECT_EQ(table.find("a", 8), nullptr);
}

TEST(KeyTable, KeepsItsEntriesInOrderOfArrivalAcrossGrowth) {
  KeyTable table;
  std::deque<std::string> keys;
  for (int i = 0; i < 20'000; ++i) table.insert({hash_key(keys.emplace_back(std::to_string(i))), keys.back(), 1});
  ASSERT_EQ(table.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(table.entries()[i].key, keys[i]);
    EXPECT_EQ(table.find(keys[i], hash_key(keys[i])), &table.entries()[i]);
  }
}

TEST(KeyTable, IsEmptyAfterItsEntriesWereTaken) {
  KeyTable table;
  table.insert({hash_key("a"), "a", 3});
  EXPECT_EQ(table.take().size(), 1U);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.find("a", hash_key("a")), nullptr);
}

RC_GTEST_PROP(KeyTable, CountsAsAMapDoes, (const std::vector<std::string>& keys)) {
  KeyTable table;
  std::map<std::string_view, std::uint64_t> expected;
  for (const auto& key : keys) {
    ++expected[key];
    if (auto* const entry = table.find(key, hash_key(key))) ++entry->count;
    else table.insert({hash_key(key), key, 1});
  }
  RC_ASSERT(table.size() == expected.size());
  for (const auto& entry : table.entries()) RC_ASSERT(expected.at(entry.key) == entry.count);
}

}  // namespace
}  // namespace splitcount::intake
