// Keys are byte strings: different bytes are different counters, at every door.
#include <set>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

std::vector<std::string> keys_that_must_stay_apart() {
  return {
      "Ab",
      "ab",
      "AB",
      "aB",
      "ab ",
      "ab  ",
      " ab",
      "ab\t",
      "ab\n",
      "ab\r\n",  // case and blanks
      "\xc3\xa9",
      "e\xcc\x81",  // both Unicode forms of é
      "e",
      "E",
      "\xc3\x89",
      "\xc3\xb1",
      "n",
      "\xc3\x9f",
      "ss",
      "\xef\xac\x80",
      "ff",  // collation's neighbours
      "11",
      "011",
      "1.1e1",
      "11.0",
      "+11",
      "0xb",
      " 11",
      "-0",
      "0",
      "NULL",
      "null",
      "true",
      "''",
      "\"",
      "\xef\xbf\xbd",
      "?",
      "\xe2\x80\x8b",
      "\xe2\x80\x8bx",
      "x",
      "x\xef\xb8\x8f",  // U+FFFD, zero width, selectors
      "\xf0\x9f\x98\x80",
      "\xf0\x9f\x98\x81",
      "\xf4\x8f\xbf\xbf",
      "\x01",
      "\x7f",  // outside the first plane
      "%",
      "_",
      "\\",
      "\\\\",
      "/*",
      "--",
      "a;b",
      "$1",
      ":k",
      "{key}",
      "{}",
      "\xef\xbb\xbf"
      "bom",
      "bom",
      std::string(299, 'k') + "a",
      std::string(299, 'k') + "b",
      std::string(299, 'k'),  // 300 bytes, last differs
      std::string(767, 'k') + "a",
      std::string(767, 'k') + "b",
  };
}

class Keys : public EveryDoor {};
SPLITCOUNT_AT_EVERY_DOOR(Keys);

TEST_P(Keys, OfDifferentBytesAreDifferentCounters) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  const auto keys = keys_that_must_stay_apart();
  ASSERT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
  for (const auto& key : keys) EXPECT_TRUE(done(add(counter, {.key = key}))) << testing::PrintToString(key);
  EXPECT_EQ(counter.keys().value_or_throw(), static_cast<std::int64_t>(keys.size()));
  const auto totals = counter.totals(keys);
  ASSERT_TRUE(done(totals));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ((*totals)[i].total, 1) << testing::PrintToString(keys[i]);
    EXPECT_EQ((*totals)[i].key, keys[i]) << "given back byte for byte";
    EXPECT_EQ(total(counter, keys[i]), 1) << testing::PrintToString(keys[i]);
  }
}

TEST_P(Keys, OfDifferentBytesStayApartWithinOneCall) {
  auto counter = make("page_views", {.key = "page"});
  const auto keys = keys_that_must_stay_apart();
  std::vector<Add> adds;
  for (int round = 0; round < 2; ++round) {
    for (const auto& key : keys) adds.push_back({.key = key});
  }
  for (const auto& answer : door_->add_many(counter, adds)) ASSERT_TRUE(done(answer));
  for (const auto& key : keys) EXPECT_EQ(total(counter, key), 2) << testing::PrintToString(key);
}

TEST_P(Keys, OfDifferentBytesStayApartWhereTheyWereDefined) {
  const auto keys = keys_that_must_stay_apart();
  auto counter = make("page_views", {.key = "page", .missing = Missing::error}, keys);
  EXPECT_EQ(counter.keys().value_or_throw(), static_cast<std::int64_t>(keys.size()));
  for (const auto& key : keys) EXPECT_TRUE(done(add(counter, {.key = key}))) << testing::PrintToString(key);
  EXPECT_TRUE(refused(add(counter, {.key = "aB "}), ErrorCode::key_missing));
  for (const auto& key : keys) EXPECT_EQ(total(counter, key), 1) << testing::PrintToString(key);
}

TEST_P(Keys, TakeUpTo768BytesAndNoMore) {
  auto counter = make("page_views", {.key = "page"});
  std::string two_byte_letters;
  for (int i = 0; i < 384; ++i) two_byte_letters += "\xc3\xa9";
  EXPECT_TRUE(done(add(counter, {.key = std::string(768, 'k')})));
  EXPECT_TRUE(done(add(counter, {.key = two_byte_letters})));
  EXPECT_TRUE(refused(add(counter, {.key = std::string(769, 'k')}), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(add(counter, {.key = two_byte_letters + "k"}), ErrorCode::key_invalid)) << "bytes, not letters";
  EXPECT_TRUE(refused(add(counter, {.key = std::string(1'000'000, 'k')}), ErrorCode::key_invalid));
  EXPECT_EQ(counter.keys().value_or_throw(), 2);
  EXPECT_EQ(total(counter, std::string(768, 'k')), 1);
}

TEST_P(Keys, WithAZeroByteAreRefusedAndNeverCut) {
  auto counter = make("page_views", {.key = "page"});
  for (const auto& key : {std::string("a\0b", 3), std::string("a\0", 2), std::string("\0", 1), std::string("\0a", 2)}) {
    const auto answer = add(counter, {.key = key});
    if (by_sql() && traits().sql_checks_utf8) {
      EXPECT_FALSE(answer.has_value()) << testing::PrintToString(key);  // by the database itself, in its own words
    } else {
      EXPECT_TRUE(refused(answer, ErrorCode::key_invalid)) << testing::PrintToString(key);
    }
  }
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(Keys, ThatAreNoUtf8AreRefused) {
  auto counter = make("page_views", {.key = "page"});
  for (const std::string key : {"\xff", "\xc3", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    const auto answer = add(counter, {.key = key});
    if (by_sql() && !traits().sql_checks_utf8 && answer) continue;  // kept apart, byte for byte: seen below
    if (by_sql() && traits().sql_checks_utf8) {
      EXPECT_FALSE(answer.has_value()) << testing::PrintToString(key);  // by the database itself, in its own words
    } else {
      EXPECT_TRUE(refused(answer, ErrorCode::key_invalid)) << testing::PrintToString(key);
    }
  }
  for (const auto& one : counter.top(100).value_or_throw()) EXPECT_EQ(one.total, 1) << "none was merged with another";
}

TEST_P(Keys, RefusedInTheMiddleOfACallChangeNothing) {
  if (!door_->all_or_nothing()) return;
  auto counter = make("page_views", {.key = "page"});
  const std::string too_long(769, 'k');
  const std::vector<Add> adds{{.key = "a"}, {.key = too_long}, {.key = "b"}};
  for (const auto& answer : door_->add_many(counter, adds)) EXPECT_TRUE(refused(answer, ErrorCode::key_invalid));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

class KeysRead : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(KeysRead);

TEST_P(KeysRead, RefuseWhatNoAddCouldHaveCounted) {
  auto counter = make("page_views", {.key = "page"});
  for (const auto& key : {std::string(769, 'k'), std::string("\xff"), std::string("a\0b", 3)}) {
    EXPECT_TRUE(refused(counter.total(key), ErrorCode::key_invalid));
    EXPECT_TRUE(refused(counter.slots(key), ErrorCode::key_invalid));
    const std::vector<std::string> keys{"a", key};
    EXPECT_TRUE(refused(counter.totals(keys), ErrorCode::key_invalid));
  }
}

}  // namespace
}  // namespace splitcount::contract
