#include <rule/merge.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace splitcount::rule {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

using Key = std::pair<std::string_view, int>;

std::vector<std::size_t> indexes_of(const Merged& merged, const MergedRow& row) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = row.first; i < row.first + row.count; ++i) indexes.push_back(merged.adds[i].index);
  return indexes;
}

TEST(Merge, GroupsByKeyBytesThenSlotAndKeepsTheOrderGiven) {
  const std::vector<RowAdd> adds{{"b", 0, 1, 0}, {"a", 0, 2, 1}, {"b", 0, 3, 2}, {"a", 1, 4, 3}};
  const Merged merged = merge(adds);
  ASSERT_EQ(merged.rows.size(), 3U);
  EXPECT_EQ(Key(merged.rows[0].key, merged.rows[0].slot), Key("a", 0));
  EXPECT_EQ(Key(merged.rows[1].key, merged.rows[1].slot), Key("a", 1));
  EXPECT_EQ(Key(merged.rows[2].key, merged.rows[2].slot), Key("b", 0));
  EXPECT_EQ(indexes_of(merged, merged.rows[0]), std::vector<std::size_t>{1});
  EXPECT_EQ(indexes_of(merged, merged.rows[1]), std::vector<std::size_t>{3});
  EXPECT_EQ(indexes_of(merged, merged.rows[2]), (std::vector<std::size_t>{0, 2}));
}

TEST(Merge, OfNothingIsNothing) {
  const Merged merged = merge({});
  EXPECT_TRUE(merged.adds.empty());
  EXPECT_TRUE(merged.rows.empty());
}

TEST(Merge, OfOneRowIsOneRow) {
  const std::vector<RowAdd> adds{{"", 7, 1, 5}, {"", 7, -1, 3}, {"", 7, 0, 4}};
  const Merged merged = merge(adds);
  ASSERT_EQ(merged.rows.size(), 1U);
  EXPECT_EQ(merged.rows[0].slot, 7);
  EXPECT_EQ(indexes_of(merged, merged.rows[0]), (std::vector<std::size_t>{5, 3, 4}));
}

TEST(Merge, KeepsTheSlotsOfOneKeyApart) {
  const std::vector<RowAdd> adds{{"a", 1, 1, 0}, {"a", 0, 1, 1}, {"a", 1, 1, 2}};
  const Merged merged = merge(adds);
  ASSERT_EQ(merged.rows.size(), 2U);
  EXPECT_EQ(indexes_of(merged, merged.rows[0]), (std::vector<std::size_t>{1}));
  EXPECT_EQ(indexes_of(merged, merged.rows[1]), (std::vector<std::size_t>{0, 2}));
}

TEST(Merge, OrdersBytesAsUnsignedAndPrefixesFirst) {
  const std::vector<RowAdd> adds{
      {"\xC3\xA9", 0, 1, 0}, {"z", 0, 1, 1}, {"za", 0, 1, 2}, {"Z", 0, 1, 3}, {"z ", 0, 1, 4}};
  const Merged merged = merge(adds);
  std::vector<std::string_view> keys;
  for (const MergedRow& row : merged.rows) keys.push_back(row.key);
  EXPECT_EQ(keys, (std::vector<std::string_view>{"Z", "z", "z ", "za", "\xC3\xA9"}));
}

RC_GTEST_PROP(Merge, IsAStableSortWithOneRowForEachKeyAndSlot, ()) {
  const auto shared = *rc::gen::element<std::string>("", "/", "/a/common/beginning/");
  const auto ends = *rc::gen::container<std::vector<std::string>>(
      rc::gen::oneOf(rc::gen::element<std::string>("", "a", "ab", "b", "B", "\xC3\xA9", "e\xCC\x81", "a ", "12345678",
                                                   "123456789", "12345678z", "1234567\xFF"),
                     rc::gen::arbitrary<std::string>()));
  std::vector<std::string> keys;
  for (const std::string& end : ends) keys.push_back(shared + end);
  std::vector<RowAdd> adds;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    adds.push_back({keys[i], *rc::gen::inRange(0, 3), *rc::gen::arbitrary<std::int64_t>(), i});
  }
  const Merged merged = merge(adds);

  std::vector<RowAdd> sorted = adds;
  const auto row_of = [](const auto& of) { return Key(of.key, of.slot); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return row_of(a) < row_of(b); });
  const auto all = [](const RowAdd& add) { return std::tuple(add.key, add.slot, add.amount, add.index); };
  RC_ASSERT(std::equal(sorted.begin(), sorted.end(), merged.adds.begin(), merged.adds.end(),
                       [&](const auto& a, const auto& b) { return all(a) == all(b); }));

  std::size_t next = 0;
  for (std::size_t r = 0; r < merged.rows.size(); ++r) {
    const MergedRow& row = merged.rows[r];
    if (r > 0) RC_ASSERT(row_of(merged.rows[r - 1]) < row_of(row));
    RC_ASSERT(row.first == next);
    RC_ASSERT(row.count > 0U);
    next += row.count;
    for (std::size_t i = row.first; i < next; ++i) RC_ASSERT(row_of(merged.adds[i]) == row_of(row));
  }
  RC_ASSERT(next == adds.size());
}

TEST(Merge, KeepsManyKeysApart) {
  std::vector<std::string> keys;
  for (int i = 0; i < 16'384; ++i) keys.push_back("/products/" + std::to_string(i * 7'919 % 16'384));
  std::vector<RowAdd> adds;
  for (std::size_t i = 0; i < 2 * keys.size(); ++i) adds.push_back({keys[i % keys.size()], 0, 1, i});
  const Merged merged = merge(adds);
  ASSERT_EQ(merged.rows.size(), keys.size());
  std::vector<std::string> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t r = 0; r < keys.size(); ++r) {
    ASSERT_EQ(merged.rows[r].key, sorted[r]);
    ASSERT_EQ(merged.rows[r].count, 2U);
  }
}

TEST(Settle, AddsUp) {
  const std::vector<RowAdd> adds{{"", 0, 5, 0}, {"", 0, -7, 1}, {"", 0, 0, 2}};
  const Settled settled = settle(10, adds);
  EXPECT_EQ(settled.n, 8);
  EXPECT_TRUE(settled.refused.empty());
}

TEST(Settle, RefusesOnlyWhatWouldLeaveTheRange) {
  const std::vector<RowAdd> adds{{"", 0, 1, 10}, {"", 0, 2, 11}, {"", 0, -5, 12}, {"", 0, 3, 13}, {"", 0, 9, 14}};
  const Settled settled = settle(highest - 1, adds);
  EXPECT_EQ(settled.n, highest - 2);
  EXPECT_EQ(settled.refused, (std::vector<std::size_t>{11, 14}));
}

TEST(Settle, RefusesBelowTheLowest) {
  const std::vector<RowAdd> adds{{"", 0, -1, 0}, {"", 0, lowest, 1}, {"", 0, highest, 2}};
  const Settled settled = settle(lowest, adds);
  EXPECT_EQ(settled.n, -1);
  EXPECT_EQ(settled.refused, (std::vector<std::size_t>{0, 1}));
}

RC_GTEST_PROP(Settle, LosesNothingAndRefusesNothingWithoutNeed, ()) {
  const auto amount = rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(-9, 10),
                                     rc::gen::element(lowest, highest, highest / 2, lowest / 2));
  const std::int64_t n = *amount;
  const auto amounts = *rc::gen::container<std::vector<std::int64_t>>(amount);
  std::vector<RowAdd> adds;
  for (std::size_t i = 0; i < amounts.size(); ++i) adds.push_back({"", 0, amounts[i], i + 100});
  const Settled settled = settle(n, adds);

  __extension__ using Wide = __int128;
  Wide counted = n;
  Wide most = n;
  Wide least = n;
  for (const RowAdd& add : adds) {
    (add.amount > 0 ? most : least) += add.amount;
    const bool refused = std::count(settled.refused.begin(), settled.refused.end(), add.index) == 1;
    const bool fits = counted + add.amount >= lowest && counted + add.amount <= highest;
    RC_ASSERT(refused == !fits);
    if (fits) counted += add.amount;
  }
  RC_ASSERT(Wide{settled.n} == counted);
  RC_ASSERT(std::is_sorted(settled.refused.begin(), settled.refused.end()));
  if (most <= highest && least >= lowest) RC_ASSERT(settled.refused.empty());
}

}  // namespace
}  // namespace splitcount::rule
