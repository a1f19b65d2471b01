// A counter that has moved elsewhere: closed, it takes no add at any door and says where it went; opened, it takes them
// again; and what was in it can be read all the while.
#include <contract/contract.h>

namespace splitcount::contract {
namespace {

constexpr auto place = "the database \"of {name} 'others'\"";

class ClosedCounter : public EveryDoor {};

TEST_P(ClosedCounter, RefusesAddsWithTheNameOfItsNewPlace) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(add(counter, {.key = "/", .amount = 3})));
  ASSERT_TRUE(done(database_->close("page_views", place)));
  const auto before = slots(counter, "/");
  for (const auto* key : {"/", "/new"}) {
    const auto told = add(counter, {.key = key});
    ASSERT_TRUE(refused(told, ErrorCode::counter_closed));
    EXPECT_NE(told.error().message.find(place), std::string::npos) << told.error().message;
    EXPECT_FALSE(told.error().retryable);
  }
  EXPECT_EQ(slots(counter, "/"), before);
  EXPECT_EQ(total(counter), 3);
}

TEST_P(ClosedCounter, RefusesAddsWithRequestIdsKnownOrNew) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::hours(1)}});
  ASSERT_TRUE(done(add(counter, {.key = "/", .request_id = "known"})));
  ASSERT_TRUE(done(database_->close("page_views", place)));
  for (const auto* id : {"known", "new"}) {
    EXPECT_TRUE(refused(add(counter, {.key = "/", .request_id = id}), ErrorCode::counter_closed)) << id;
  }
  EXPECT_EQ(total(counter), 1);
}

TEST_P(ClosedCounter, TakesAddsAgainWhenItIsOpened) {
  auto counter = make("hits", {});
  ASSERT_TRUE(done(add(counter, {})));
  ASSERT_TRUE(done(database_->close("hits", place)));
  ASSERT_TRUE(refused(add(counter, {}), ErrorCode::counter_closed));
  const auto opened = another().reopen("hits");
  ASSERT_TRUE(done(opened));
  EXPECT_TRUE(*opened);
  EXPECT_FALSE(database_->reopen("hits").value_or_throw());
  ASSERT_TRUE(done(add(counter, {.amount = 5})));
  EXPECT_EQ(total(counter), 6);
}

SPLITCOUNT_AT_EVERY_DOOR(ClosedCounter);

class Closed : public Contract {};

TEST_P(Closed, AnotherProgramThatHadTheOldRuleIsToldToo) {
  auto counter = make("hits", {});
  auto others = another();
  auto theirs = others.counter("hits").value_or_throw();
  ASSERT_TRUE(done(theirs.add(Add{})));
  ASSERT_TRUE(done(database_->close("hits", place)));
  EXPECT_TRUE(refused(theirs.add(Add{}), ErrorCode::counter_closed));
  const std::vector<Add> many(10);
  EXPECT_TRUE(refused(theirs.add(many), ErrorCode::counter_closed));
  EXPECT_EQ(total(counter), 1);
}

TEST_P(Closed, ACombinerGoesOnForOtherCounters) {
  auto hits = make("hits", {});
  auto votes = make("votes", {});
  const auto combined = open_door(DoorKind::combined, *stand_, *database_);
  ASSERT_TRUE(done(combined->add(hits, {})));
  ASSERT_TRUE(done(another().close("hits", place)));
  EXPECT_TRUE(refused(combined->add(hits, {}), ErrorCode::counter_closed));
  EXPECT_TRUE(done(combined->add(votes, {})));
}

TEST_P(Closed, ABatchOfAStreamStaysWhereItWas) {
  auto counter = make("page_views", {.key = "page"});
  auto combiner = Combiner::open(*database_).value_or_throw();
  ASSERT_TRUE(done(database_->close("page_views", place)));
  const std::vector<Add> adds{{.key = "/a"}, {.key = "/b"}};
  const Batch batch{.stream = "file/page_views/line/1", .from = 0, .to = 10, .checkpoint = "", .adds = adds};
  EXPECT_TRUE(refused(combiner.apply(counter, batch, std::chrono::steady_clock::now() + std::chrono::seconds(10)),
                      ErrorCode::counter_closed));
  EXPECT_TRUE(combiner.streams("file/").value_or_throw().empty());
}

TEST_P(Closed, ItIsListedSo) {
  auto counter = make("hits", {});
  EXPECT_FALSE(database_->list().value_or_throw().front().moved_to);
  ASSERT_TRUE(done(database_->close("hits", place)));
  EXPECT_EQ(database_->list().value_or_throw().front().moved_to, place);
  const auto status = database_->status().value_or_throw();
  ASSERT_EQ(status.closed.size(), 1U);
  EXPECT_NE(status.closed.front().find(place), std::string::npos);
}

TEST_P(Closed, DefineIsRefusedMaintainLeavesItAndDropRemovesIt) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::hours(1)}});
  ASSERT_TRUE(done(database_->close("page_views", place)));
  EXPECT_TRUE(refused(database_->define("page_views", {}), ErrorCode::counter_closed));
  const auto maintained = database_->maintain();
  ASSERT_TRUE(done(maintained));
  EXPECT_FALSE(maintained->front().error);
  ASSERT_TRUE(done(database_->drop("page_views")));
  ASSERT_TRUE(done(database_->define("page_views", {.key = "page", .layout = engine_->layout})));
}

TEST_P(Closed, ClosedAgainItKeepsItsPlaceAndABadPlaceIsRefused) {
  auto counter = make("hits", {});
  EXPECT_TRUE(refused(database_->close("hits", ""), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(database_->close("hits", std::string(501, 'x')), ErrorCode::invalid_argument));
  ASSERT_TRUE(done(database_->close("hits", place)));
  ASSERT_TRUE(done(database_->close("hits", "elsewhere")));
  EXPECT_EQ(database_->list().value_or_throw().front().moved_to, place);
  EXPECT_TRUE(refused(database_->close("misses", place), ErrorCode::unknown_counter));
}

TEST_P(Closed, AddsInFlightAreWaitedForOrRefused) {
  auto counter = make("hits", {});
  const auto holder = stand_->session();
  ASSERT_TRUE(ran(holder->begin()));
  ASSERT_TRUE(ran(holder->add("hits", counter.rule(), {.amount = 7})));
  auto closing = another();
  EXPECT_TRUE(refused(closing.close("hits", place), ErrorCode::database_busy));
  ASSERT_TRUE(ran(holder->commit()));
  ASSERT_TRUE(done(closing.close("hits", place)));
  EXPECT_EQ(total(counter), 7);
}

SPLITCOUNT_ON_EVERY_ENGINE(Closed);

}  // namespace
}  // namespace splitcount::contract
