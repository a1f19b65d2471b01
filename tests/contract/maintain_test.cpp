// maintain: what is due is done, once, and nothing else changes.
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class Maintain : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(Maintain);

TEST_P(Maintain, HasNothingToDoInAnEmptyDatabaseAndForPlainCounters) {
  make("page_views", {.key = "page"});
  ASSERT_TRUE(done(database_->uninstall()));
  const auto empty = database_->maintain();
  ASSERT_TRUE(done(empty));
  EXPECT_TRUE(empty->empty());
  auto counter = make("page_views", {.key = "page", .layout = Layout::compact});
  ASSERT_TRUE(done(counter.add({.key = "a"})));
  const auto plain = database_->maintain();
  ASSERT_TRUE(done(plain));
  ASSERT_EQ(plain->size(), 1U);
  EXPECT_EQ(plain->front().counter, "page_views");
  EXPECT_EQ(plain->front().deltas_folded, 0);
  EXPECT_EQ(plain->front().ids_purged, 0);
  EXPECT_FALSE(plain->front().error);
  EXPECT_TRUE(refused(database_->maintain("page_view"), ErrorCode::unknown_counter));
}

TEST_P(Maintain, RemovesExpiredIdsInChunksAndNoOthers) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::seconds(1)}});
  auto kept = make("likes", {.retries = Retries{true, {}}});
  constexpr int expired = 4'500;  // more than two chunks
  std::vector<std::string> ids;
  for (int i = 0; i < expired; ++i) ids.push_back("id" + std::to_string(i));
  std::vector<Add> adds;
  for (const auto& id : ids) adds.push_back({.key = "a", .request_id = id});
  ASSERT_TRUE(done(counter.add(adds)));
  ASSERT_TRUE(done(kept.add({.request_id = "r"})));
  std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
  std::vector<std::int64_t> told;
  const auto maintained = database_->maintain({}, [&told](const Maintained& so_far) {
    if (so_far.ids_purged > 0) told.push_back(so_far.ids_purged);
  });
  ASSERT_TRUE(done(maintained));
  ASSERT_EQ(maintained->size(), 2U);
  EXPECT_EQ(maintained->front().ids_purged, 0) << "likes keeps its ids for ever";
  EXPECT_EQ(maintained->back().ids_purged, expired);
  EXPECT_EQ(told, (std::vector<std::int64_t>{2'000, 4'000, 4'500}));
  auto session = stand_->session();
  EXPECT_EQ(session->rows("SELECT count(*) FROM page_views_requests").value(), (Rows{{"0"}}));
  EXPECT_EQ(session->rows("SELECT count(*) FROM likes_requests").value(), (Rows{{"1"}}));
  const auto again = counter.add({.key = "a", .request_id = "id0"});
  ASSERT_TRUE(done(again));
  EXPECT_FALSE(again->replay);
  EXPECT_EQ(database_->maintain().value_or_throw().back().ids_purged, 0) << "an id within its window stays";
  EXPECT_TRUE(counter.add({.key = "a", .request_id = "id0"}).value_or_throw().replay);
  EXPECT_EQ(total(counter, "a"), expired + 1);
}

TEST_P(Maintain, MovesWhatAJournalHasPendingIntoItsSlots) {
  if (!traits().journal) return;
  auto counter = make("page_views", {.key = "page", .slots = 4, .layout = Layout::journal});
  auto numbers = make("prizes", {.slots = 3, .pick = Pick::value, .layout = Layout::journal});
  for (const int slot : {0, 2, 2}) ASSERT_TRUE(done(counter.add({.key = "a", .amount = 5, .slot = slot})));
  ASSERT_TRUE(done(counter.add({.key = "b", .amount = 0})));
  for (const std::int64_t value : {1, 2, 4}) ASSERT_TRUE(done(numbers.add({.amount = -2, .value = value})));
  auto session = stand_->session();
  EXPECT_EQ(session->rows("SELECT count(*) FROM page_views_slots").value(), (Rows{{"0"}}));
  for (const std::int64_t folded : {4, 0}) {
    const auto maintained = database_->maintain("page_views");
    ASSERT_TRUE(done(maintained));
    ASSERT_EQ(maintained->size(), 1U);
    EXPECT_EQ(maintained->front().deltas_folded, folded);
    EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{0, 5}, {2, 10}}));
    EXPECT_EQ(counter.keys().value_or_throw(), 2) << "b was counted by an add of nothing";
    EXPECT_EQ(counter.total().value_or_throw().slots, 3);
    EXPECT_EQ(session->rows("SELECT count(*) FROM page_views_deltas").value(), (Rows{{"0"}}));
    EXPECT_EQ(session->rows("SELECT count(*) FROM page_views_slots").value(), (Rows{{"3"}}));
  }
  EXPECT_EQ(database_->maintain().value_or_throw().back().deltas_folded, 3);
  EXPECT_EQ(slots(numbers), (std::vector<Slot>{{0, 0}, {1, -4}, {2, -2}}));
  ASSERT_TRUE(done(counter.add({.key = "a", .slot = 2})));
  EXPECT_EQ(slots(counter, "a"), (std::vector<Slot>{{0, 5}, {2, 11}})) << "slots and what is pending";
}

TEST_P(Maintain, IsDoneByManyAtOnceBesideAdds) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, std::chrono::seconds(1)}});
  constexpr int threads_count = 4;
  constexpr int rounds = 25;
  std::vector<std::jthread> threads;
  for (int i = 0; i < threads_count; ++i) {
    threads.emplace_back([&, i] {
      auto database = another();
      auto mine = database.counter("page_views").value_or_throw();
      for (int round = 0; round < rounds; ++round) {
        const auto id = std::to_string(i) + "/" + std::to_string(round);
        EXPECT_TRUE(done(mine.add({.key = "a", .request_id = id})));
        const auto maintained = database.maintain();
        EXPECT_TRUE(done(maintained));
        if (maintained) {
          EXPECT_FALSE(maintained->front().error) << maintained->front().error->message;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total(counter), threads_count * rounds);
}

}  // namespace
}  // namespace splitcount::contract
