#include <measure/statistics.h>

#include <gtest/gtest.h>

namespace splitcount::measure {
namespace {

TEST(Statistics, TheMedianIsTheOneInTheMiddleAndTheMeanOfTwo) {
  EXPECT_EQ(spread_of({3, 1, 2}), (Spread{2, 1, 3}));
  EXPECT_EQ(spread_of({4, 1, 2, 3}), (Spread{2.5, 1, 4}));
  EXPECT_EQ(spread_of({}), (Spread{}));
}

TEST(Statistics, RatiosAreTakenRoundByRound) {
  const std::vector<double> ours{10, 30, 40};
  const std::vector<double> others{10, 10, 10};
  EXPECT_EQ(ratio_of(ours, others), (Spread{3, 1, 4}));
  EXPECT_EQ(ratio_of(ours, std::vector<double>{0, 10, 20}), (Spread{2.5, 2, 3}));
}

TEST(Statistics, APercentileIsOneOfTheValues) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 100; i > 0; --i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.5), 50U);
  EXPECT_EQ(percentile(values, 0.99), 99U);
  EXPECT_EQ(percentile(values, 0.999), 100U);
  EXPECT_EQ(percentile(values, 1), 100U);
  std::vector<std::uint32_t> one{7};
  EXPECT_EQ(percentile(one, 0.5), 7U);
  std::vector<std::uint32_t> none;
  EXPECT_EQ(percentile(none, 0.5), 0U);
}

}  // namespace
}  // namespace splitcount::measure
