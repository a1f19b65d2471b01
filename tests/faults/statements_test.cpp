// Connections that break at any statement; on PostgreSQL also answers that are lost, writes and commits that the server
// refuses.
#include <faults/relayed.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using contract::done;
using contract::refused;

const Retries for_ever{true, {}};

class CutStatements : public RelayedCuts {};
SPLITCOUNT_CUT_ON_EVERY_SERVER(CutStatements);

/// From the first statement of a program on, which finds its counter, to the last.
TEST_P(CutStatements, AtAnyPlaceLeaveAllOfAnAddOrNothing) {
  beside_.define("page_views", {.key = "page", .slots = 3, .retries = for_ever}).value_or_throw();
  int nth = 0;
  for (int fired = 1; fired == 1; ++nth) {
    const auto before = relay_.fired();
    relay_.plan({.action = action(), .statement = "", .skip = nth});
    const std::string id = std::to_string(nth);
    const Add add{.key = "a", .request_id = id};
    for (;;) {
      auto database = Database::open(dsn_through()).value_or_throw();
      auto counter = database.counter("page_views");
      if (!counter) {
        EXPECT_EQ(counter.error().code, ErrorCode::connection_lost) << nth;
        continue;
      }
      const auto added = counter->add(add);
      ASSERT_TRUE(done(added)) << nth;
      EXPECT_FALSE(added->replay);
      break;
    }
    fired = relay_.fired() - before;
    relay_.plan_nothing();
    EXPECT_EQ(total("page_views", "a"), nth + 1) << "cut at statement " << nth;
  }
  EXPECT_GT(nth, 5) << "to find a counter and to add takes more statements than that";
}

TEST_P(CutStatements, InACallersTransactionLeaveItDeadAndNothingOfIt) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  auto plain = plain_through();
  ASSERT_EQ(plain.run("BEGIN"), "BEGIN");
  relay_.plan({.action = action(), .statement = "page_views_add_one"});
  const auto added = counter.add(plain.caller(), {.key = "k", .request_id = "x"});
  ASSERT_TRUE(refused(added, ErrorCode::connection_lost));
  EXPECT_TRUE(added.error().retryable);
  EXPECT_TRUE(added.error().transaction_dead);
  EXPECT_TRUE(added.error().connection_dead);
  EXPECT_EQ(relay_.fired(), 1);
  const auto again = counter.add({.key = "k", .request_id = "x"});
  ASSERT_TRUE(done(again));
  EXPECT_FALSE(again->replay);
  EXPECT_EQ(total("page_views", "k"), 1);
}

class LostAnswers : public RelayedGround<testing::Test> {};

TEST_F(LostAnswers, OfPlainSqlAreReplaysWhenTheSameIdIsSentFourTimesMore) {
  make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  int id = 0;
  for (const bool extended : {false, true}) {
    const auto name = std::to_string(++id);
    const auto send = [&, this] {
      auto plain = plain_through();
      return extended ? plain.run("SELECT page_views_add('K', 1, $1)", name)
                      : plain.run("SELECT page_views_add('K', 1, '" + name + "')");
    };
    relay_.plan({.action = Action::cut_after, .statement = "page_views_add"});
    EXPECT_EQ(send(), "broken");
    EXPECT_EQ(relay_.fired(), id);
    for (int again = 2; again <= 5; ++again) EXPECT_EQ(send(), "f") << "a replay";
    EXPECT_EQ(total("page_views", "K"), id);
  }
}

TEST_F(LostAnswers, OfPlainSqlWithoutIdsCountAgain) {
  make("page_views", {.key = "page", .slots = 3});
  const auto send = [this] { return plain_through().run("SELECT page_views_add('K')"); };
  relay_.plan({.action = Action::cut_after, .statement = "page_views_add"});
  EXPECT_EQ(send(), "broken");
  for (int again = 2; again <= 5; ++again) EXPECT_EQ(send(), "t");
  EXPECT_EQ(total("page_views", "K"), 5) << "at least once is all that can be had without an id";
}

/// Triggers on the slots that fail the first times, which a sequence counts, since a rollback leaves it as it is.
class FailingWrites : public RelayedGround<testing::Test> {
 protected:
  void fail_writes(int times, const std::string& how, bool at_commit) {
    value("CREATE SEQUENCE trouble");
    value("CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('public.trouble') <= " +
          std::to_string(times) + " THEN " + how + "; END IF; RETURN NEW; END $$");
    value(at_commit ? "CREATE CONSTRAINT TRIGGER failing AFTER INSERT OR UPDATE ON page_views_slots "
                      "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()"
                    : "CREATE TRIGGER failing BEFORE INSERT OR UPDATE ON page_views_slots "
                      "FOR EACH ROW EXECUTE FUNCTION fail()");
  }
  void end_trouble() {
    value("DROP FUNCTION fail() CASCADE");
    value("DROP SEQUENCE trouble");
  }
  std::string writes_tried() { return value("SELECT last_value FROM trouble"); }
  static std::string raise(const std::string& state) { return "RAISE EXCEPTION USING ERRCODE = '" + state + "'"; }
};

TEST_F(FailingWrites, BetweenClaimAndCountUseUpNoId) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  const std::string end_of_session = "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10)";
  for (const std::string& how : {raise("P0001"), end_of_session}) {
    const std::string id = how.substr(0, 5);
    const auto before = total("page_views", "K");
    fail_writes(1, how, false);
    const auto send = [&] { return plain_through().run("SELECT page_views_add('K', 1, $1)", id); };
    EXPECT_EQ(send(), how == end_of_session ? "broken" : "P0001");
    EXPECT_EQ(total("page_views", "K"), before) << "the id was claimed, and nothing of it is kept";
    EXPECT_EQ(send(), "t");
    EXPECT_EQ(send(), "f");
    EXPECT_EQ(total("page_views", "K"), before + 1);
    EXPECT_EQ(writes_tried(), "2");
    end_trouble();
  }
}

TEST_F(FailingWrites, OfASessionThatEndsAreRunAgainByAddsOnTheirOwn) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  fail_writes(2, "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10)", false);
  const auto added = counter.add({.key = "K", .request_id = "x"});
  ASSERT_TRUE(done(added));
  EXPECT_FALSE(added->replay);
  EXPECT_EQ(writes_tried(), "3");
  EXPECT_EQ(total("page_views", "K"), 1);
}

constexpr int adds_in_group = 50;

TEST_F(FailingWrites, AtCommitAreRunAgainWithAllOfTheirAdds) {
  for (const auto* state : {"40001", "40P01"}) {
    for (const bool once : {false, true}) {
      auto counter = make("page_views", {.key = "page", .slots = 1, .retries = Retries{once, {}}});
      auto combiner = Combiner::open(through_).value_or_throw();
      std::vector<std::string> ids;
      for (int i = 0; i < adds_in_group; ++i) ids.push_back(std::to_string(i));
      std::vector<Add> adds;
      for (const auto& id : ids) adds.push_back({.key = "K", .request_id = once ? id : std::string_view{}});
      fail_writes(1, raise(state), true);
      for (const auto& answer : submit(combiner, counter, adds).get()) {
        ASSERT_TRUE(done(answer));
        EXPECT_FALSE(answer->replay);
      }
      EXPECT_EQ(writes_tried(), "2");
      EXPECT_EQ(total("page_views", "K"), adds_in_group) << state;
      end_trouble();
      fail_writes(3, raise(state), true);
      const auto added = counter.add(std::vector<Add>(adds_in_group, Add{.key = "K"}));
      ASSERT_TRUE(done(added));
      EXPECT_EQ(added->size(), static_cast<std::size_t>(adds_in_group));
      EXPECT_EQ(writes_tried(), "4");
      EXPECT_EQ(total("page_views", "K"), 2 * adds_in_group);
      end_trouble();
      ASSERT_TRUE(done(beside_.drop("page_views")));
    }
  }
}

TEST_F(FailingWrites, AtCommitThatUseUpAllTriesAreAnErrorForEveryAddAndNoneCounts) {
  auto counter = make("page_views", {.key = "page", .slots = 1});
  auto combiner = Combiner::open(through_).value_or_throw();
  const std::vector<Add> adds(adds_in_group, Add{.key = "K"});
  for (const auto& [state, code] :
       {std::pair("40001", ErrorCode::serialization_failure), {"40P01", ErrorCode::deadlock}}) {
    fail_writes(1'000'000, raise(state), true);
    const auto answers = submit(combiner, counter, adds).get();
    ASSERT_EQ(answers.size(), adds.size());
    for (const auto& answer : answers) {
      ASSERT_TRUE(refused(answer, code));
      EXPECT_TRUE(answer.error().retryable);
      EXPECT_EQ(answer.error().sqlstate, state);
    }
    EXPECT_EQ(writes_tried(), "20") << "which is the limit";
    ASSERT_TRUE(refused(counter.add(adds), code));
    EXPECT_EQ(writes_tried(), "40");
    const auto applied = combiner.apply(counter, {"s", 0, 1, "", adds}, in(std::chrono::minutes(1)));
    ASSERT_TRUE(refused(applied, code));
    EXPECT_EQ(writes_tried(), "60");
    EXPECT_EQ(total("page_views", "K"), 0);
    end_trouble();
    EXPECT_TRUE(done(combiner.apply(counter, {"s" + std::string(state), 0, 1, "", adds}, in(std::chrono::minutes(1)))));
    EXPECT_EQ(total("page_views", "K"), adds_in_group);
    ASSERT_TRUE(done(beside_.drop("page_views")));
    counter = make("page_views", {.key = "page", .slots = 1});
  }
}

TEST_F(FailingWrites, AtTheCommitOfACallerAreTheCallersToRunAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 1, .retries = for_ever});
  fail_writes(1, raise("40001"), true);
  auto plain = plain_through();
  for (const std::string expected : {"40001", "COMMIT"}) {
    ASSERT_EQ(plain.run("BEGIN"), "BEGIN");
    const auto added = counter.add(plain.caller(), {.key = "K", .request_id = "x"});
    ASSERT_TRUE(done(added));
    EXPECT_FALSE(added->replay);
    EXPECT_EQ(plain.run("COMMIT"), expected);
  }
  EXPECT_EQ(total("page_views", "K"), 1);
}

class GeneratedIds : public RelayedGround<testing::Test> {};

TEST_F(GeneratedIds, AreNotUsedUpByAMillionAddsSinceThereAreNone) {
  make("page_views", {.key = "page", .slots = 16, .pick = Pick::random});
  make("orders_seen", {.key = "shop", .slots = 16, .retries = Retries{true, std::chrono::hours(1)}});
  make("prizes_won", {.slots = 16, .layout = Layout::padded});
  EXPECT_EQ(value("SELECT count(*) FROM pg_sequences"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM pg_attribute WHERE attidentity <> ''"), "0");
  const int calls = scale(2, 20, 20);
  constexpr int adds_in_call = 50'000;
  auto counter = beside_.counter("page_views").value_or_throw();
  const std::vector<Add> adds(adds_in_call, Add{.key = "K"});
  for (int call = 0; call < calls; ++call) ASSERT_TRUE(done(counter.add(adds)));
  EXPECT_EQ(total("page_views", "K"), calls * adds_in_call);
  EXPECT_LE(counter.slots("K").value_or_throw().size(), 16U);
}

}  // namespace
}  // namespace splitcount::faults
