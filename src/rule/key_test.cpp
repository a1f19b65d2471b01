#include <rule/key.h>

#include <string>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace splitcount::rule {
namespace {

TEST(CheckKey, TakesBytesAsTheyAre) {
  for (const std::string key : {"/home", "Ab", "ab", "ab ", " ", "\xC3\xA9", "e\xCC\x81", "011", "1.1e1", "\n"}) {
    EXPECT_TRUE(check_key(key)) << key;
    EXPECT_TRUE(is_valid_key(key)) << key;
  }
}

TEST(CheckKey, TakesUpTo768BytesAndNoneMore) {
  EXPECT_TRUE(check_key(std::string(768, 'k')));
  EXPECT_FALSE(check_key(std::string(769, 'k')));
  std::string two_bytes_each;
  for (int i = 0; i < 384; ++i) two_bytes_each += "\xC3\xA9";
  EXPECT_TRUE(check_key(two_bytes_each));
  EXPECT_FALSE(check_key(two_bytes_each + 'k'));
}

TEST(CheckKey, SaysWhatWouldBeRight) {
  const std::string right = "; a key is 1 to 768 bytes of UTF-8 without NUL";
  EXPECT_EQ(check_key("").error().message, "the key is empty" + right);
  EXPECT_EQ(check_key("\xFF").error().message, "key \"\\xFF\" is not UTF-8" + right);
  EXPECT_EQ(check_key(std::string_view("a\0b", 3)).error().message, "key \"a\\x00b\" holds NUL" + right);
  EXPECT_EQ(check_key(std::string(1000, 'k')).error().message,
            "key \"" + std::string(60, 'k') + "...\" has 1,000 bytes" + right);
  EXPECT_EQ(check_key("").error().code, ErrorCode::key_invalid);
}

TEST(CheckRequestId, TakesUpTo128Bytes) {
  EXPECT_TRUE(check_request_id("7f3a"));
  EXPECT_TRUE(check_request_id(std::string(128, 'i')));
  for (const std::string& id : {std::string(), std::string(129, 'i'), std::string("\xFF"), std::string(1, '\0')}) {
    EXPECT_EQ(check_request_id(id).error().code, ErrorCode::request_id_invalid);
  }
  EXPECT_EQ(check_request_id("").error().message,
            "the request id is empty; a request id is 1 to 128 bytes of UTF-8 without NUL");
}

RC_GTEST_PROP(IsValidKey, AgreesWithCheckKey, (const std::string& bytes)) {
  RC_ASSERT(is_valid_key(bytes) == check_key(bytes).has_value());
}

}  // namespace
}  // namespace splitcount::rule
