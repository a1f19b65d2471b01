#include <intake/group.h>

#include <deque>
#include <string>

#include <gtest/gtest.h>

namespace splitcount::intake {
namespace {

/// A piece of keys that live as long as this.
class PieceOf {
 public:
  explicit PieceOf(std::initializer_list<std::pair<std::string, std::uint64_t>> counts, std::int64_t to = 1) {
    for (const auto& [key, count] : counts) {
      const auto& kept = keys_.emplace_back(key);
      piece.keys.push_back({hash_key(kept), kept, count});
      piece.key_bytes += kept.size();
      piece.lines += count;
    }
    piece.to = to;
  }
  Piece piece;

 private:
  std::deque<std::string> keys_;
};

TEST(Group, MergesPiecesByKeyAndOutlivesThem) {
  Group group;
  {
    const PieceOf first({{"/a", 2}, {"/b", 1}}, 30);
    PieceOf second({{"/b", 5}}, 60);
    second.piece.lines = 7;
    second.piece.rejects[index_of(Reason::no_request)] = 2;
    group.merge(first.piece);
    group.merge(second.piece);
  }
  const auto adds = group.adds();
  ASSERT_EQ(adds.size(), 2U);
  EXPECT_EQ(adds[0].key, "/a");
  EXPECT_EQ(adds[0].amount, 2);
  EXPECT_EQ(adds[1].key, "/b");
  EXPECT_EQ(adds[1].amount, 6);
  EXPECT_EQ(group.lines(), 10U);
  EXPECT_EQ(group.to(), 60);
  EXPECT_EQ(group.rejects()[index_of(Reason::no_request)], 2U);
  group.clear();
  EXPECT_TRUE(group.empty());
  EXPECT_TRUE(group.adds().empty());
}

TEST(Group, HasRoomUpToItsBoundOfKeysAndOfTheirBytes) {
  Bounds bounds;
  bounds.group_keys_max = 3;
  bounds.group_key_bytes_max = 8;
  Group group;
  EXPECT_TRUE(group.has_room(PieceOf({{"1", 1}, {"2", 1}, {"3", 1}, {"4", 1}}).piece, bounds)) << "an empty one takes any";
  group.merge(PieceOf({{"/a", 1}, {"/b", 1}}).piece);
  EXPECT_TRUE(group.has_room(PieceOf({{"/c", 1}}).piece, bounds));
  EXPECT_FALSE(group.has_room(PieceOf({{"/c", 1}, {"/d", 1}}).piece, bounds));
  EXPECT_TRUE(group.has_room(PieceOf({{"/cde", 1}}).piece, bounds));
  EXPECT_FALSE(group.has_room(PieceOf({{"/cdef", 1}}).piece, bounds));
}

}  // namespace
}  // namespace splitcount::intake
