#include <measure/advise.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitcount::measure {
namespace {

using testing::ElementsAre;
using Steps = std::vector<std::vector<double>>;

TEST(Knee, IsTheFirstStepThatIsATenthOrLessBelowTheBest) {
  EXPECT_EQ(find_knee(Steps{{100, 100, 100}, {200, 200, 200}, {380, 380, 380}, {400, 400, 400}}), (Knee{2, 2, 2}));
  EXPECT_EQ(find_knee(Steps{{100}, {100}, {100}}), (Knee{0, 0, 0}));
  EXPECT_EQ(find_knee(Steps{{100, 100}, {111, 112}}).at, 1U);
}

TEST(Knee, MoreSlotsThatCostSomethingAreNotTaken) {
  EXPECT_EQ(find_knee(Steps{{100, 100, 100}, {400, 400, 400}, {300, 300, 300}}), (Knee{1, 1, 1}));
}

TEST(Knee, IsSureWhereEachHalfOfTheRoundsSaysTheSameWithinAStep) {
  const auto knee = find_knee(Steps{{100, 100, 100}, {370, 350, 350}, {400, 400, 400}});
  EXPECT_EQ(knee, (Knee{2, 1, 2}));
  EXPECT_TRUE(knee.is_sure());
}

TEST(Knee, IsNotSureWhereRoundsContradictEachOther) {
  const auto knee = find_knee(Steps{{400, 100, 400, 100}, {100, 100, 100, 100}, {100, 400, 100, 400}, {100, 390, 110, 410}});
  EXPECT_FALSE(knee.is_sure());
}

TEST(Better, NeedsATenthInTheMedianAndInEachHalf) {
  EXPECT_TRUE(is_better(std::vector<double>{120, 121, 125}, std::vector<double>{100, 101, 102}));
  EXPECT_FALSE(is_better(std::vector<double>{105, 105, 105}, std::vector<double>{100, 100, 100}));
  EXPECT_FALSE(is_better(std::vector<double>{200, 90, 90, 200}, std::vector<double>{100, 100, 100, 100}));
}

TEST(Steps, DoubleUpToOneForEachSession) {
  EXPECT_THAT(steps_for(Pick::session, 64), ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(steps_for(Pick::session, 5), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(steps_for(Pick::session, 1), ElementsAre(1));
}

TEST(Steps, ArePrimeWhereTheValuePicks) {
  EXPECT_THAT(steps_for(Pick::value, 64), ElementsAre(2, 5, 11, 17, 37, 67));
  EXPECT_EQ(steps_for(Pick::value, 1'000).back(), 1'021);
}

}  // namespace
}  // namespace splitcount::measure
