#include <rule/pick.h>

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

namespace splitcount::rule {
namespace {

constexpr EngineTraits many_writers{"Manydb", false};
constexpr EngineTraits one_writer{"SQLite", true};

Rule rule_of(Pick pick, int slots = 11) {
  Rule rule;
  rule.pick = pick;
  rule.slots = slots;
  rule.retries.once = true;
  return rule;
}

Add with_value(std::int64_t value) {
  Add add;
  add.value = value;
  return add;
}

Add with_slot(int slot) {
  Add add;
  add.slot = slot;
  return add;
}

Add with_id(std::string_view request_id) {
  Add add;
  add.request_id = request_id;
  return add;
}

Add with_key(std::string_view key) {
  Add add;
  add.key = key;
  return add;
}

std::optional<int> picked(const Rule& rule, const EngineTraits& engine, const Add& add, std::uint64_t draw = 0) {
  return pick_slot(rule, engine, add, draw).value();
}

TEST(RequestHash, IsFnv1a) {
  EXPECT_EQ(request_hash(""), 0x811C9DC5U);
  EXPECT_EQ(request_hash("a"), 0xE40C292CU);
  EXPECT_EQ(request_hash("foobar"), 0xBF9CF968U);
  EXPECT_EQ(request_hash("\xFF"), 0x7A0B824EU) << "bytes are unsigned";
}

TEST(PickSlot, LeavesSessionSpreadAndFreeToEnginesWithManyWriters) {
  for (const Pick pick : {Pick::session, Pick::spread, Pick::free}) {
    EXPECT_EQ(picked(rule_of(pick), many_writers, {}, 7), std::nullopt);
  }
}

TEST(PickSlot, DrawsSessionAndFreeWhereThereIsOneWriterAndSpreadsToSlot0) {
  EXPECT_EQ(picked(rule_of(Pick::session), one_writer, {}, 18), 7);
  EXPECT_EQ(picked(rule_of(Pick::free), one_writer, {}, 18), 7);
  EXPECT_EQ(picked(rule_of(Pick::spread), one_writer, {}, 18), 0);
}

TEST(PickSlot, UsesOneSlotForOneDraw) {
  for (const EngineTraits& engine : {many_writers, one_writer}) {
    EXPECT_EQ(picked(rule_of(Pick::random), engine, {}, 18), 7);
    EXPECT_EQ(picked(rule_of(Pick::random), engine, {}, std::numeric_limits<std::uint64_t>::max()), 4);
  }
}

TEST(PickSlot, SendsARetryToTheSlotOfItsFirstTry) {
  const Rule rule = rule_of(Pick::request, 16);
  const auto first = picked(rule, many_writers, with_id("7f3a"), 1);
  EXPECT_EQ(first, static_cast<int>(request_hash("7f3a") % 16));
  EXPECT_EQ(picked(rule, many_writers, with_id("7f3a"), 2), first);
}

TEST(PickSlot, DrawsWhereThereIsNoRequestIdToHash) {
  EXPECT_EQ(picked(rule_of(Pick::request), many_writers, {}, 18), 7);
}

TEST(PickSlot, TakesTheFloorRemainderOfTheValue) {
  const Rule rule = rule_of(Pick::value);
  EXPECT_EQ(picked(rule, many_writers, with_value(4711)), 3);
  EXPECT_EQ(picked(rule, one_writer, with_value(-1)), 10);
  EXPECT_EQ(picked(rule, one_writer, with_value(std::numeric_limits<std::int64_t>::min())), 3);
}

TEST(PickSlot, SpreadsStridedIdsEvenlyOverAPrimeCountOnly) {
  const auto hits_of_stride_12 = [](int slots) {
    std::vector<int> hits(static_cast<std::size_t>(slots));
    for (std::int64_t id = 0; id < 12 * 1'320; id += 12) {
      ++hits[static_cast<std::size_t>(*picked(rule_of(Pick::value, slots), one_writer, with_value(id)))];
    }
    return hits;
  };
  EXPECT_THAT(hits_of_stride_12(11), testing::Each(120));
  std::vector<int> all_in_one(12);
  all_in_one[0] = 1'320;
  EXPECT_EQ(hits_of_stride_12(12), all_in_one);
}

TEST(PickSlot, UsesAGivenSlotWhateverThePick) {
  for (const Pick pick : {Pick::session, Pick::spread, Pick::random, Pick::request, Pick::free, Pick::value}) {
    EXPECT_EQ(picked(rule_of(pick), many_writers, with_slot(10), 3), 10);
    const auto missing = pick_slot(rule_of(pick), many_writers, with_slot(11), 3);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::slot_missing);
    EXPECT_FALSE(pick_slot(rule_of(pick), many_writers, with_slot(-1), 3));
  }
}

TEST(PickSlot, RefusesAValueThatIsMissingOrNotWanted) {
  EXPECT_EQ(pick_slot(rule_of(Pick::value), many_writers, {}, 0).error().code, ErrorCode::value_invalid);
  EXPECT_EQ(pick_slot(rule_of(Pick::random), many_writers, with_value(1), 0).error().code, ErrorCode::value_invalid);
  Add both = with_value(1);
  both.slot = 1;
  EXPECT_EQ(pick_slot(rule_of(Pick::value), many_writers, both, 0).error().code, ErrorCode::value_invalid);
}

RC_GTEST_PROP(PickSlot, StaysWithinTheRule, (std::uint64_t draw, std::int64_t value, const std::string& id)) {
  const auto pick =
      *rc::gen::element(Pick::session, Pick::spread, Pick::random, Pick::request, Pick::free, Pick::value);
  const Rule rule = rule_of(pick, *rc::gen::inRange(1, 1025));
  Add add = with_id(id);
  if (pick == Pick::value) add.value = value;
  const auto slot = picked(rule, one_writer, add, draw);
  RC_ASSERT(slot.has_value());
  RC_ASSERT(*slot >= 0);
  RC_ASSERT(*slot < rule.slots);
}

TEST(CheckAdd, TellsTheSlotsThatThereAre) {
  const auto missing = check_add("prizes_won", rule_of(Pick::value), with_slot(12));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::slot_missing);
  EXPECT_EQ(missing.error().message, "counter \"prizes_won\" has slots 0 to 10, and 12 is not one of them");
  EXPECT_EQ(check_add("hits", rule_of(Pick::random, 1), with_slot(1)).error().message,
            "counter \"hits\" has slot 0 only, and 1 is another");
}

TEST(CheckAdd, WantsAKeyExactlyWhereTheRuleHasOne) {
  Rule rule = rule_of(Pick::random);
  const auto unwanted = check_add("hits", rule, with_key("/home"));
  EXPECT_EQ(unwanted.error().code, ErrorCode::key_invalid);
  EXPECT_EQ(unwanted.error().message,
            "counter \"hits\" has no key, so key \"/home\" cannot be counted there; leave the key out");
  EXPECT_TRUE(check_add("hits", rule, {}));
  rule.key = "page";
  const auto absent = check_add("hits", rule, {});
  EXPECT_EQ(absent.error().code, ErrorCode::key_invalid);
  EXPECT_EQ(absent.error().message,
            "counter \"hits\" counts by page, and this add has no page; give a key of 1 to 768 bytes");
  EXPECT_TRUE(check_add("hits", rule, with_key("/home")));
  EXPECT_EQ(check_add("hits", rule, with_key("\xFF")).error().code, ErrorCode::key_invalid);
}

TEST(CheckAdd, TakesRequestIdsWhereRetriesAreKnownOnly) {
  Rule rule = rule_of(Pick::random);
  EXPECT_TRUE(check_add("hits", rule, with_id("7f3a")));
  EXPECT_EQ(check_add("hits", rule, with_id("\xFF")).error().code, ErrorCode::request_id_invalid);
  rule.retries = {};
  const auto refused = check_add("hits", rule, with_id("7f3a"));
  EXPECT_EQ(refused.error().code, ErrorCode::request_id_refused);
  EXPECT_TRUE(check_add("hits", rule, {}));
}

TEST(CheckAdd, SaysWhichValueItWants) {
  EXPECT_EQ(check_add("prizes_won", rule_of(Pick::value), {}).error().message,
            "counter \"prizes_won\" picks its slot by a value, and this add carries none; give a whole number");
  EXPECT_EQ(check_add("hits", rule_of(Pick::spread), with_value(3)).error().message,
            "counter \"hits\" picks its slot by spread, so an add cannot carry value 3; leave the value out");
}

}  // namespace
}  // namespace splitcount::rule
