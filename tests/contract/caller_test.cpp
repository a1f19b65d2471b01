// Within the caller's transaction: the add commits or rolls back with it, and it stays the caller's.
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class CallersTransaction : public Contract {
 protected:
  void SetUp() override {
    Contract::SetUp();
    session_ = stand_->session();
    ASSERT_TRUE(ran(session_->run("CREATE TABLE orders (id integer)")));
  }
  std::int64_t orders() {
    const auto rows = stand_->session()->rows("SELECT count(*) FROM orders");
    EXPECT_TRUE(ran(rows));
    return rows ? std::stoll(rows->front().front()) : -1;
  }
  void insert_order() { ASSERT_TRUE(ran(session_->run("INSERT INTO orders (id) VALUES (1)"))); }

  std::unique_ptr<Session> session_;
};
SPLITCOUNT_ON_EVERY_ENGINE(CallersTransaction);

TEST_P(CallersTransaction, CommitsTheOwnRowsAndTheCountTogether) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(ran(session_->begin()));
  insert_order();
  ASSERT_TRUE(done(counter.add(session_->caller(), Add{.key = "k", .amount = 2})));
  EXPECT_TRUE(session_->in_transaction()) << "it was not committed by us";
  EXPECT_EQ(total(counter, "k"), 0) << "nobody else sees it before the commit";
  const auto mine = session_->rows("SELECT total FROM page_views WHERE page = 'k'");
  ASSERT_TRUE(ran(mine));
  EXPECT_EQ(*mine, (Rows{{"2"}})) << "the caller does";
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(total(counter, "k"), 2);
  EXPECT_EQ(orders(), 1);
}

TEST_P(CallersTransaction, RollbackLeavesNothingNeitherRowsNorIds) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  ASSERT_TRUE(ran(session_->begin()));
  insert_order();
  const std::vector<Add> adds{{.key = "k", .request_id = "r1"}, {.key = "l", .request_id = "r2"}, {.key = "m"}};
  ASSERT_TRUE(done(counter.add(session_->caller(), adds)));
  ASSERT_TRUE(ran(session_->rollback()));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
  EXPECT_EQ(orders(), 0);
  for (const auto& add : adds) {
    const auto added = counter.add(add);
    ASSERT_TRUE(done(added));
    EXPECT_FALSE(added->replay);
  }
}

TEST_P(CallersTransaction, TakesManyCallsAndPlainSqlSideBySide) {
  auto views = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  auto prizes = make("prizes_won", {.slots = 4, .pick = Pick::random});
  ASSERT_TRUE(ran(session_->begin()));
  for (int i = 0; i < 10; ++i) {
    const std::string id = "r" + std::to_string(i);
    ASSERT_TRUE(done(views.add(session_->caller(), Add{.key = "k", .request_id = id})));
    ASSERT_TRUE(ran(session_->add("page_views", views.rule(), {.key = "k", .request_id = id})));
    ASSERT_TRUE(ran(session_->add("page_views", views.rule(), {.key = "k"})));
    ASSERT_TRUE(done(prizes.add(session_->caller(), Add{.amount = 3})));
  }
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(total(views, "k"), 20);
  EXPECT_EQ(total(prizes), 30);
}

TEST_P(CallersTransaction, KnowsItsOwnIdsBeforeTheCommit) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = Retries{true, {}}});
  ASSERT_TRUE(ran(session_->begin()));
  const auto first = counter.add(session_->caller(), Add{.key = "k", .request_id = "r1"});
  ASSERT_TRUE(done(first));
  const auto again = counter.add(session_->caller(), Add{.key = "k", .request_id = "r1"});
  ASSERT_TRUE(done(again));
  EXPECT_TRUE(again->replay);
  EXPECT_EQ(again->slot, first->slot);
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(total(counter, "k"), 1);
}

TEST_P(CallersTransaction, IsAskedForWhereThereIsNone) {
  auto counter = make("page_views", {.key = "page"});
  EXPECT_TRUE(refused(counter.add(session_->caller(), Add{.key = "k"}), ErrorCode::no_transaction));
  const std::vector<Add> adds{{.key = "k"}, {.key = "l"}};
  EXPECT_TRUE(refused(counter.add(session_->caller(), adds), ErrorCode::no_transaction));
  ASSERT_TRUE(ran(session_->begin()));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_TRUE(refused(counter.add(session_->caller(), Add{.key = "k"}), ErrorCode::no_transaction));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
}

TEST_P(CallersTransaction, SurvivesARefusedAddAndCommitsItsOwnRows) {
  auto counter = make("prizes", {.key = "prize", .slots = 2, .missing = Missing::error, .retries = Retries{true, {}}},
                      {"car", "full"});
  ASSERT_TRUE(done(counter.add({.key = "car", .request_id = "known"})));
  for (const int slot : {0, 1}) ASSERT_TRUE(done(counter.add({.key = "full", .amount = amount_max, .slot = slot})));
  const std::vector<std::pair<Add, ErrorCode>> bad{
      {{.key = "boat"}, ErrorCode::key_missing},
      {{.key = "car", .slot = 2}, ErrorCode::slot_missing},
      {{.key = "full"}, ErrorCode::out_of_range},
      {{.key = "car", .amount = 2, .request_id = "known"}, ErrorCode::request_conflict},
      {{.key = ""}, ErrorCode::key_invalid},
      {{.key = "car", .value = 1}, ErrorCode::value_invalid}};
  ASSERT_TRUE(ran(session_->begin()));
  insert_order();
  for (const auto& [add, code] : bad) {
    const auto answer = counter.add(session_->caller(), add);
    EXPECT_TRUE(refused(answer, code));
    if (answer.error().transaction_dead) {
      EXPECT_TRUE(traits().refusal_kills_transaction);
      ASSERT_TRUE(ran(session_->rollback()));
      return;
    }
    EXPECT_TRUE(session_->in_transaction());
    insert_order();
  }
  ASSERT_TRUE(done(counter.add(session_->caller(), Add{.key = "car"})));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(orders(), 1 + static_cast<std::int64_t>(bad.size()));
  EXPECT_EQ(total(counter, "car"), 2);
}

TEST_P(CallersTransaction, SurvivesARefusedCallOfManyWhichLeavesNothing) {
  auto counter = make("page_views", {.key = "page", .slots = 2, .retries = Retries{true, {}}});
  ASSERT_TRUE(done(counter.add({.key = "full", .amount = amount_max, .slot = 0})));
  ASSERT_TRUE(done(counter.add({.key = "seen", .request_id = "seen"})));
  ASSERT_TRUE(ran(session_->begin()));
  insert_order();
  for (const Add& last : {Add{.key = "full", .slot = 0}, Add{.key = "seen", .amount = 9, .request_id = "seen"}}) {
    const std::vector<Add> adds{{.key = "a", .request_id = "ra"}, {.key = "z"}, last, {.key = "b", .request_id = "zz"}};
    const auto answer = counter.add(session_->caller(), adds);
    ASSERT_FALSE(answer.has_value());
    if (answer.error().transaction_dead) {
      EXPECT_TRUE(traits().refusal_kills_transaction);
      ASSERT_TRUE(ran(session_->rollback()));
      return;
    }
  }
  ASSERT_TRUE(done(counter.add(session_->caller(), Add{.key = "after"})));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(counter.keys().value_or_throw(), 3) << "full, seen, after";
  const auto added = counter.add({.key = "a", .request_id = "ra"});
  ASSERT_TRUE(done(added));
  EXPECT_FALSE(added->replay);
}

TEST_P(CallersTransaction, SurvivesARefusedPlainSqlAddWhichLeavesNothing) {
  auto counter = make("page_views", {.key = "page", .slots = 2, .retries = Retries{true, {}}});
  ASSERT_TRUE(done(counter.add({.key = "full", .amount = amount_max, .slot = 0})));
  ASSERT_TRUE(ran(session_->begin()));
  insert_order();
  for (const Add& bad :
       {Add{.key = "full", .request_id = "r1", .slot = 0}, Add{.key = "a", .request_id = "r2", .slot = 2}}) {
    const auto answer = session_->add("page_views", counter.rule(), bad);
    ASSERT_FALSE(answer.has_value());
    if (!session_->in_transaction() || traits().refusal_kills_transaction) {
      EXPECT_TRUE(traits().refusal_kills_transaction);
      (void)session_->rollback();
      return;
    }
  }
  ASSERT_TRUE(ran(session_->add("page_views", counter.rule(), {.key = "after", .request_id = "r1"})));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(total(counter, "after"), 1) << "the id of the refused add was not used up";
}

TEST_P(CallersTransaction, WithTemporaryTablesOfOurNamesCountsWhereOthersSeeIt) {
  auto counter = make("page_views", {.key = "page", .slots = 2, .retries = Retries{true, {}}});
  ASSERT_TRUE(ran(session_->run("CREATE TEMPORARY TABLE page_views_slots (page text, slot integer, n integer)")));
  ASSERT_TRUE(ran(session_->run("CREATE TEMPORARY TABLE splitcount_counters (name text, version integer)")));
  ASSERT_TRUE(ran(session_->begin()));
  const auto added = counter.add(session_->caller(), Add{.key = "k", .request_id = "r1"});
  ASSERT_TRUE(ran(added ? session_->commit() : session_->rollback()));
  EXPECT_TRUE(done(added) || traits().temporary_tables_hide_ours);
  EXPECT_EQ(total(counter, "k"), added ? 1 : 0);
}

TEST_P(CallersTransaction, OfAnotherDatabaseCountsByThatDatabasesRuleOrNotAtAll) {
  auto counter = make("page_views", {.key = "page", .slots = 64, .pick = Pick::random});
  auto elsewhere = engine_->make();
  auto other = elsewhere->session();
  ASSERT_TRUE(ran(other->begin()));
  EXPECT_FALSE(counter.add(other->caller(), Add{.key = "k"}).has_value());
  ASSERT_TRUE(ran(other->rollback()));
  auto database = Database::open(elsewhere->dsn()).value_or_throw();
  auto theirs = database.define("page_views", {.key = "page", .slots = 2, .pick = Pick::random}).value_or_throw();
  int counted = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(ran(other->begin()));
    const auto added = counter.add(other->caller(), Add{.key = "k"});
    counted += added ? 1 : 0;
    ASSERT_TRUE(ran(added ? other->commit() : other->rollback()));
  }
  EXPECT_EQ(total(theirs, "k"), counted);
  for (const auto& slot : slots(theirs, "k")) EXPECT_LT(slot.slot, 2);
  EXPECT_EQ(counter.keys().value_or_throw(), 0) << "nothing was written to our own";
}

TEST_P(CallersTransaction, OfManySessionsWaitsForTheLockAndLosesNothing) {
  auto counter = make("page_views", {.key = "page", .slots = 8, .pick = Pick::random});
  constexpr int sessions = 4;
  constexpr int rounds = 50;
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&] {
      auto session = stand_->session();
      auto mine = counter;
      for (int round = 0; round < rounds;) {
        ASSERT_TRUE(ran(session->begin()));
        const auto added = mine.add(session->caller(), Add{.key = "k"});  // the first statement
        if (!added && traits().callers_begin_again) {
          ASSERT_TRUE(added.error().retryable) << added.error().message;
          ASSERT_TRUE(ran(session->rollback()));
          continue;
        }
        ASSERT_TRUE(done(added));
        auto committed = session->run("INSERT INTO orders (id) VALUES (1)");
        if (committed) committed = session->commit();
        if (!committed && traits().callers_begin_again) {
          ASSERT_TRUE(committed.error().begin_again) << committed.error().message;
          if (session->in_transaction()) {
            (void)session->rollback();
          }
          continue;
        }
        ASSERT_TRUE(ran(committed));
        ++round;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total(counter, "k"), sessions * rounds);
  EXPECT_EQ(orders(), sessions * rounds);
}

TEST_P(CallersTransaction, WithAnOldSnapshotCountsOrIsToldToBeginAgain) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  ASSERT_TRUE(ran(session_->begin()));
  ASSERT_TRUE(ran(session_->rows("SELECT total FROM page_views")));
  const auto meanwhile = counter.add({.key = "k"});  // by another program
  if (!meanwhile) {
    EXPECT_TRUE(traits().readers_may_block_writers);
    ASSERT_TRUE(refused(meanwhile, ErrorCode::database_busy));
  }
  auto added = counter.add(session_->caller(), Add{.key = "k"});
  if (!added) {
    EXPECT_TRUE(added.error().retryable) << added.error().message;
    EXPECT_TRUE(added.error().transaction_dead) << "only another transaction can see what is there now";
    ASSERT_TRUE(ran(session_->rollback()));
    ASSERT_TRUE(ran(session_->begin()));
    added = counter.add(session_->caller(), Add{.key = "k"});
  }
  EXPECT_TRUE(done(added));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(total(counter, "k"), meanwhile ? 3 : 2);
}

TEST_P(CallersTransaction, OfManyNewKeysIsAllOrNothing) {
  auto counter = make("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  std::vector<std::string> keys;
  for (int i = 0; i < 200; ++i) keys.push_back("k" + std::to_string(i));
  std::vector<Add> adds;
  for (const auto& key : keys) adds.push_back({.key = key});
  ASSERT_TRUE(ran(session_->begin()));
  ASSERT_TRUE(done(counter.add(session_->caller(), adds)));
  ASSERT_TRUE(ran(session_->rollback()));
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
  ASSERT_TRUE(ran(session_->begin()));
  ASSERT_TRUE(done(counter.add(session_->caller(), adds)));
  ASSERT_TRUE(ran(session_->commit()));
  EXPECT_EQ(counter.keys().value_or_throw(), 200);
  EXPECT_EQ(total(counter), 200);
}

class BlockedWriters : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(BlockedWriters);

TEST_P(BlockedWriters, EndAsBusyAndRetryableWithNothingCounted) {
  auto counter = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  auto blocker = stand_->session();
  ASSERT_TRUE(ran(blocker->block_writers("page_views")));
  const auto added = counter.add({.key = "k"});
  ASSERT_TRUE(refused(added, ErrorCode::database_busy));
  EXPECT_TRUE(added.error().retryable);
  EXPECT_EQ(total(counter, "k"), 1) << "readers are not blocked";
  ASSERT_TRUE(ran(blocker->rollback()));
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  EXPECT_EQ(total(counter, "k"), 2);
}

TEST_P(BlockedWriters, GoOnWhenTheLockIsGivenBack) {
  auto counter = make("page_views", {.key = "page"});
  auto blocker = stand_->session();
  ASSERT_TRUE(ran(blocker->block_writers("page_views")));
  std::jthread writer([&] { EXPECT_TRUE(done(counter.add({.key = "k"}))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(ran(blocker->rollback()));
  writer.join();
  EXPECT_EQ(total(counter, "k"), 1);
}

}  // namespace
}  // namespace splitcount::contract
