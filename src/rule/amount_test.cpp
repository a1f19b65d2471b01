#include <rule/amount.h>

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace splitcount::rule {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

TEST(ParseWhole, TakesTheWholeRange) {
  EXPECT_EQ(parse_whole("0"), 0);
  EXPECT_EQ(parse_whole("-1"), -1);
  EXPECT_EQ(parse_whole("9223372036854775807"), highest);
  EXPECT_EQ(parse_whole("-9223372036854775808"), lowest);
}

TEST(ParseWhole, RefusesEveryOtherForm) {
  for (const char* text : {"", "-", "+1", "00", "01", "-0", "-01", "1.5", "1e3", " 5", "5 ", "0x10", "1,000", "--1",
                           "\xEF\xBC\x91", "1\n"}) {
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_whole(std::string_view("1\0", 2)), std::nullopt);
}

TEST(ParseWhole, RefusesWhatLeaves64Bits) {
  EXPECT_EQ(parse_whole("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_whole("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(parse_whole("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_whole(std::string(100'000, '9')), std::nullopt);
}

RC_GTEST_PROP(ParseWhole, ReadsBackWhatWasWritten, (std::int64_t number)) {
  RC_ASSERT(parse_whole(std::to_string(number)) == number);
}

TEST(ParseAmount, SaysWhatWouldBeRight) {
  EXPECT_EQ(parse_amount("-3").value(), -3);
  const auto fraction = parse_amount("1.5");
  ASSERT_FALSE(fraction);
  EXPECT_EQ(fraction.error().code, ErrorCode::amount_invalid);
  EXPECT_EQ(
      fraction.error().message,
      "amount \"1.5\" is no whole number; write digits, with a minus in front where it is negative, without plus, "
      "leading zeros or blanks");
  const auto large = parse_amount("9223372036854775808");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::amount_invalid);
  EXPECT_EQ(large.error().message,
            "amount \"9223372036854775808\" leaves signed 64 bits, which go from -9223372036854775808 to "
            "9223372036854775807");
}

TEST(ParseValue, FailsWithItsOwnCode) {
  EXPECT_EQ(parse_value("4711").value(), 4711);
  EXPECT_EQ(parse_value("x").error().code, ErrorCode::value_invalid);
  EXPECT_EQ(parse_value("-9223372036854775809").error().code, ErrorCode::value_invalid);
}

TEST(ParseSlot, TakesWhatARuleCanHave) {
  EXPECT_EQ(parse_slot("0").value(), 0);
  EXPECT_EQ(parse_slot("1023").value(), 1023);
}

TEST(ParseSlot, TellsAMissingSlotFromNoNumberAtAll) {
  for (const char* text : {"-1", "1024", "4294967296", "99999999999999999999"}) {
    EXPECT_EQ(parse_slot(text).error().code, ErrorCode::slot_missing) << text;
  }
  for (const char* text : {"", "one", "01", "1.0"}) {
    EXPECT_EQ(parse_slot(text).error().code, ErrorCode::invalid_argument) << text;
  }
}

TEST(ParseSlots, RefusesCountsOutOfRangeAndWords) {
  EXPECT_EQ(parse_slots("1").value(), 1);
  EXPECT_EQ(parse_slots("1024").value(), 1024);
  for (const char* text : {"0", "1025", "four", "-1", "", "99999999999999999999"}) {
    EXPECT_EQ(parse_slots(text).error().code, ErrorCode::rule_invalid) << text;
  }
  EXPECT_EQ(parse_slots("four").error().message, "slots is a whole number from 1 to 1024, and \"four\" is not");
}

TEST(CheckedAdd, StopsAtBothEnds) {
  EXPECT_EQ(checked_add(highest, 0), highest);
  EXPECT_EQ(checked_add(highest, lowest), -1);
  EXPECT_EQ(checked_add(highest, 1), std::nullopt);
  EXPECT_EQ(checked_add(lowest, -1), std::nullopt);
  EXPECT_EQ(checked_add(lowest, lowest), std::nullopt);
}

RC_GTEST_PROP(CheckedAdd, IsTheSumWhereverThereIsOne, ()) {
  const auto number =
      rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(), rc::gen::element(lowest, highest, highest / 2 + 1),
                     rc::gen::map<std::int64_t>([](std::int64_t n) { return n & ~(highest >> 1); }));
  const auto a = *number;
  const auto b = *number;
  __extension__ using Wide = __int128;
  const Wide sum = Wide{a} + Wide{b};
  if (sum < lowest || sum > highest) {
    RC_ASSERT(checked_add(a, b) == std::nullopt);
  } else {
    RC_ASSERT(checked_add(a, b) == static_cast<std::int64_t>(sum));
  }
}

TEST(FloorRemainder, IsNeverNegative) {
  EXPECT_EQ(floor_remainder(4711, 11), 3);
  EXPECT_EQ(floor_remainder(-1, 11), 10);
  EXPECT_EQ(floor_remainder(-11, 11), 0);
  EXPECT_EQ(floor_remainder(lowest, 11), 3);
  EXPECT_EQ(floor_remainder(lowest, 1), 0);
}

RC_GTEST_PROP(FloorRemainder, LeavesAMultipleOfTheDivisor, (std::int64_t number)) {
  const auto divisor = *rc::gen::inRange<std::int64_t>(1, 1025);
  const auto remainder = floor_remainder(number, divisor);
  RC_ASSERT(remainder >= 0);
  RC_ASSERT(remainder < divisor);
  __extension__ using Wide = __int128;
  RC_ASSERT((Wide{number} - Wide{remainder}) % divisor == 0);
}

}  // namespace
}  // namespace splitcount::rule
