#include <base/clock.h>

#include <gtest/gtest.h>

namespace splitcount {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(FormatInstant, WritesUtcWithMilliseconds) {
  EXPECT_EQ(format_instant(Instant{microseconds{0}}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_instant(Instant{microseconds{1'769'854'530'123'000}}), "2026-01-31T10:15:30.123Z");
  EXPECT_EQ(format_instant(Instant{microseconds{1'709'251'199'999'000}}), "2024-02-29T23:59:59.999Z");
}

TEST(FormatInstant, CutsMicrosecondsAndNeverRounds) {
  EXPECT_EQ(format_instant(Instant{microseconds{999'999}}), "1970-01-01T00:00:00.999Z");
  EXPECT_EQ(format_instant(Instant{microseconds{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(FormatInstant, ShowsAClockBeyondFourDigitsOfYearAtTheEdge) {
  EXPECT_EQ(format_instant(Instant::max()), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_instant(Instant::min()), "0000-01-01T00:00:00.000Z");
}

TEST(NowUtc, LiesBetweenTwoReadingsOfTheSystemClock) {
  const auto before = std::chrono::floor<microseconds>(std::chrono::system_clock::now());
  const Instant now = now_utc();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

TEST(TimeLeft, IsZeroAfterTheDeadlineAndNeverNegative) {
  EXPECT_EQ(time_left(Deadline::clock::now() - std::chrono::hours{1}), milliseconds{0});
  EXPECT_EQ(time_left(Deadline::min()), milliseconds{0});
}

TEST(TimeLeft, IsNoMoreThanWhatWasGiven) {
  const auto left = time_left(deadline_in(milliseconds{60'000}));
  EXPECT_LE(left, milliseconds{60'000});
  EXPECT_GT(left, milliseconds{0});
}

TEST(DeadlineIn, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(deadline_in(milliseconds::max()), Deadline::max());
  EXPECT_GT(time_left(Deadline::max()), milliseconds{0});
}

TEST(DeadlineIn, IsNowForANegativeWait) { EXPECT_EQ(time_left(deadline_in(milliseconds::min())), milliseconds{0}); }

}  // namespace
}  // namespace splitcount
