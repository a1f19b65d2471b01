// The ends of signed 64 bits, at every door.
#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class Range : public EveryDoor {};
SPLITCOUNT_AT_EVERY_DOOR(Range);

TEST_P(Range, AnAddThatWouldLeaveTheTopIsRefusedAndTheValueStays) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_max, .slot = 0})));
  EXPECT_EQ(total(counter, "k"), amount_max);
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = 1, .slot = 0}), ErrorCode::out_of_range));
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = amount_max, .slot = 0}), ErrorCode::out_of_range));
  EXPECT_EQ(total(counter, "k"), amount_max);
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = 0, .slot = 0})));
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = -1, .slot = 0})));
  EXPECT_EQ(total(counter, "k"), amount_max - 1);
}

TEST_P(Range, AnAddThatWouldLeaveTheBottomIsRefusedAndTheValueStays) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_min, .slot = 1})));
  EXPECT_EQ(total(counter, "k"), amount_min);
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = -1, .slot = 1}), ErrorCode::out_of_range));
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = amount_min, .slot = 1}), ErrorCode::out_of_range));
  EXPECT_EQ(total(counter, "k"), amount_min);
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_max, .slot = 1})));
  EXPECT_EQ(total(counter, "k"), -1);
}

TEST_P(Range, NumbersThatAFloatingPointNumberCannotHoldStayExact) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "a", .amount = 9007199254740993})));
  EXPECT_EQ(total(counter, "a"), 9007199254740993);
  ASSERT_TRUE(done(add(counter, {.key = "a", .amount = amount_max - 9007199254740993 - 1})));
  EXPECT_EQ(total(counter, "a"), amount_max - 1);
  ASSERT_TRUE(done(add(counter, {.key = "b", .amount = 3000000000})));
  ASSERT_TRUE(done(add(counter, {.key = "b", .amount = 3000000000})));
  EXPECT_EQ(total(counter, "b"), 6000000000);
}

TEST_P(Range, ATotalOutsideItIsAnErrorOfTheReadUntilItComesBack) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  for (const int slot : {0, 1}) ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_max, .slot = slot})));
  ASSERT_TRUE(done(add(counter, {.key = "other", .amount = 5, .slot = 0})));
  EXPECT_TRUE(refused(counter.total("k"), ErrorCode::out_of_range));
  EXPECT_TRUE(refused(counter.total(), ErrorCode::out_of_range));
  EXPECT_TRUE(refused(counter.top(5), ErrorCode::out_of_range));
  const std::vector<std::string> keys{"other", "k"};
  EXPECT_TRUE(refused(counter.totals(keys), ErrorCode::out_of_range));
  EXPECT_EQ(total(counter, "other"), 5);
  EXPECT_EQ(slots(counter, "k"), (std::vector<Slot>{{0, amount_max}, {1, amount_max}}));
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = -amount_max, .slot = 1})));
  EXPECT_EQ(total(counter, "k"), amount_max);
}

TEST_P(Range, SlotsAtBothEndsSumUpExactly) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_max, .slot = 0})));
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = 5, .slot = 1})));
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_min, .slot = 2})));
  EXPECT_EQ(total(counter, "k"), 4) << "whatever the sum passes through on its way";
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_min, .slot = 3})));
  EXPECT_EQ(total(counter, "k"), amount_min + 4);
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = -10, .slot = 1})));
  EXPECT_TRUE(refused(counter.total("k"), ErrorCode::out_of_range));
}

TEST_P(Range, AddsOfOneCallThatMeetInOneSlotAreRefusedOrSumUpExactly) {
  auto counter = make("page_views", {.key = "page", .slots = 2});
  const std::vector<Add> there_and_back{{.key = "k", .amount = amount_max, .slot = 0},
                                        {.key = "k", .amount = amount_min, .slot = 0},
                                        {.key = "k", .amount = amount_max, .slot = 0}};
  for (const auto& answer : door_->add_many(counter, there_and_back)) EXPECT_TRUE(done(answer));
  EXPECT_EQ(total(counter, "k"), amount_max - 1);
  const std::vector<Add> too_far{{.key = "a", .amount = 1, .slot = 1},
                                 {.key = "a", .amount = amount_max, .slot = 1},
                                 {.key = "b", .amount = 1, .slot = 0}};
  const auto answers = door_->add_many(counter, too_far);
  if (door_->all_or_nothing()) {
    for (const auto& answer : answers) EXPECT_TRUE(refused(answer, ErrorCode::out_of_range));
    EXPECT_EQ(total(counter, "a"), 0);
    EXPECT_EQ(total(counter, "b"), 0);
  } else {
    EXPECT_TRUE(done(answers[0]));
    EXPECT_TRUE(refused(answers[1], ErrorCode::out_of_range));
    EXPECT_TRUE(done(answers[2]));
    EXPECT_EQ(total(counter, "a"), 1);
    EXPECT_EQ(total(counter, "b"), 1);
  }
}

TEST_P(Range, AnIdWhoseAddWasRefusedIsNotUsedUp) {
  auto counter = make("page_views", {.key = "page", .slots = 2, .retries = Retries{true, {}}});
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = amount_max, .slot = 0})));
  EXPECT_TRUE(refused(add(counter, {.key = "k", .amount = 1, .request_id = "r1", .slot = 0}), ErrorCode::out_of_range));
  ASSERT_TRUE(done(add(counter, {.key = "k", .amount = -1, .slot = 0})));
  const auto again = add(counter, {.key = "k", .amount = 1, .request_id = "r1", .slot = 0});
  ASSERT_TRUE(done(again));
  if (again->replay) {
    EXPECT_FALSE(*again->replay);
  }
  EXPECT_EQ(total(counter, "k"), amount_max);
}

}  // namespace
}  // namespace splitcount::contract
