#include <base/text.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace splitcount {
namespace {

std::string encode(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | (code >> 6)), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) return {byte(0xE0 | (code >> 12)), byte(0x80 | ((code >> 6) & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | (code >> 18)), byte(0x80 | ((code >> 12) & 0x3F)), byte(0x80 | ((code >> 6) & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

TEST(IsUtf8, TakesEveryCharacterOfUnicodeAndNoSurrogate) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    ASSERT_EQ(is_utf8(encode(code)), !surrogate) << std::hex << static_cast<std::uint32_t>(code);
  }
}

TEST(IsUtf8, RefusesOverlongForms) {
  EXPECT_FALSE(is_utf8("\xC0\x80"));
  EXPECT_FALSE(is_utf8("\xC1\xBF"));
  EXPECT_FALSE(is_utf8("\xE0\x9F\xBF"));
  EXPECT_FALSE(is_utf8("\xF0\x8F\xBF\xBF"));
}

TEST(IsUtf8, RefusesWhatLiesBeyondUnicode) {
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(is_utf8("\xF5\x80\x80\x80"));
  EXPECT_FALSE(is_utf8("\xFF"));
}

TEST(IsUtf8, RefusesATruncatedCharacterWhereverItStands) {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string ascii(before, 'a');
    EXPECT_TRUE(is_utf8(ascii + "\xC3\xA9"));
    EXPECT_FALSE(is_utf8(ascii + "\xC3"));
    EXPECT_FALSE(is_utf8(ascii + "\xE2\x82"));
    EXPECT_FALSE(is_utf8(ascii + "\xC3(0123456789"));
    EXPECT_FALSE(is_utf8(ascii + "\x80" + std::string(10, 'b')));
  }
}

TEST(IsUtf8, TakesNothingAndNul) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Quoted, ShowsPlainTextAndOtherScriptsAsTheyAre) {
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("/home"), "\"/home\"");
  EXPECT_EQ(quoted("p\xC3\xA5 \xE6\x97\xA5"), "\"p\xC3\xA5 \xE6\x97\xA5\"");
}

TEST(Quoted, EscapesWhatBreaksTheLineOrTheTerminal) {
  EXPECT_EQ(quoted("a\nb\t\x1B[2J\x7F"), "\"a\\x0Ab\\x09\\x1B[2J\\x7F\"");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), "\"\\x00\"");
  EXPECT_EQ(quoted("\xC2\x9B"), "\"\\xC2\\x9B\"") << "the one-character CSI";
  EXPECT_EQ(quoted("\xE2\x80\xAE"), "\"\\xE2\\x80\\xAE\"") << "right-to-left override";
  EXPECT_EQ(quoted("\xE2\x80\xA8"), "\"\\xE2\\x80\\xA8\"") << "line separator";
}

TEST(Quoted, EscapesQuotesAndBackslashesSoThatTheEndIsKnown) {
  EXPECT_EQ(quoted("a\"b"), "\"a\\\"b\"");
  EXPECT_EQ(quoted("\\x0A"), "\"\\\\x0A\"");
}

TEST(Quoted, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(quoted("\xFF"
                   "a\xC3"),
            "\"\\xFFa\\xC3\"");
}

TEST(Quoted, CutsBetweenCharacters) {
  EXPECT_EQ(splitcount::quoted(std::string(60, 'a')), '"' + std::string(60, 'a') + '"');
  EXPECT_EQ(splitcount::quoted(std::string(61, 'a')), '"' + std::string(60, 'a') + "...\"");
  EXPECT_EQ(quoted("ab\xC3\xA9", 3), "\"ab...\"");
  EXPECT_EQ(quoted("ab", 0), "\"...\"");
}

RC_GTEST_PROP(Quoted, IsOneLineOfUtf8OfBoundedLength, (const std::string& bytes)) {
  const std::string text = splitcount::quoted(bytes, 20);
  RC_ASSERT(is_utf8(text));
  RC_ASSERT(text.size() <= 20 * 4 + 5);
  for (const char byte : text) RC_ASSERT(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7F);
}

TEST(Nearest, FindsASlipOfTheKeyboard) {
  const std::vector<std::string> names{"page_views", "prizes_won", "logins"};
  EXPECT_EQ(nearest("page_view", names), "page_views");
  EXPECT_EQ(nearest("pgae_views", names), "page_views");
  EXPECT_EQ(nearest("Page_Views", names), "page_views");
  EXPECT_EQ(nearest("prices_won", names), "prizes_won");
  EXPECT_EQ(nearest("login", names), "logins");
}

TEST(Nearest, IsEmptyWhereNothingIsNear) {
  const std::vector<std::string> names{"page_views", "ab"};
  EXPECT_EQ(nearest("orders", names), "");
  EXPECT_EQ(nearest("xy", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("orders", {}), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), names), "");
}

TEST(Nearest, TakesTheNearerOfTwoAndTheFirstOfEquals) {
  const std::vector<std::string> names{"visitors", "visits", "visitz"};
  EXPECT_EQ(nearest("visit", names), "visits");
  EXPECT_EQ(nearest("visitor", names), "visitors");
}

TEST(Nearest, CountsASwapAsOneChange) {
  const std::vector<std::string> names{"abd", "cab"};
  EXPECT_EQ(nearest("adb", names), "abd");
}

TEST(Grouped, PutsACommaBeforeEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-100'000), "-100,000");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace splitcount
