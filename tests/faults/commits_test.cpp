// Commits that are cut off: before they reach the server, and after they took effect and before their
// answer. What was answered counts, what is unknown is settled by sending it again, and nothing counts twice.
#include <faults/numbered.h>
#include <faults/relayed.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using contract::done;
using contract::refused;
using std::chrono::milliseconds;

const Retries for_ever{true, {}};

class CutCommits : public RelayedCuts {
 protected:
  [[nodiscard]] static bool took_effect() { return action() == Action::cut_after; }
  /// Every other cut is a reset.
  void plan_cut(int number, int times = 1) {
    relay_.plan({.action = action(), .times = times, .reset = number % 2 == 1});
  }
  /// The ids that are stored, which a table's primary key keeps apart.
  std::string ids(const std::string& counter) { return value("SELECT count(*) FROM " + counter + "_requests"); }
  void expect_numbered_totals(std::int64_t end) {
    std::vector<std::int64_t> expected(numbered_keys);
    for (std::int64_t number = 0; number < end; ++number) expected[number % numbered_keys] += numbered_amount(number);
    for (std::int64_t key = 0; key < numbered_keys; ++key) {
      EXPECT_EQ(total("page_views", numbered_key(key)), expected[key]) << key;
    }
    EXPECT_EQ(ids("page_views"), std::to_string(end));
  }
};
SPLITCOUNT_CUT_ON_EVERY_SERVER(CutCommits);

TEST_P(CutCommits, OfAddsWithIdsAreSettledBySendingThemAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  const int cuts = scale(20, 200, 200);
  for (int number = 0; number < cuts; ++number) {
    plan_cut(number);
    const auto added = counter.add(NumberedAdd(number).add());
    ASSERT_TRUE(done(added)) << number;
    EXPECT_FALSE(added->replay) << "it was counted by this call, on whichever try";
  }
  EXPECT_EQ(relay_.fired(), cuts);
  expect_numbered_totals(cuts);
}

TEST_P(CutCommits, OfCallsOfManyAddsWithIdsAreSettledBySendingThemAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  const int cuts = scale(3, 10, 50);
  constexpr int adds_in_call = 20;
  for (int cut = 0; cut < cuts; ++cut) {
    std::vector<NumberedAdd> numbered;
    for (int i = 0; i < adds_in_call; ++i) numbered.emplace_back(cut * adds_in_call + i);
    std::vector<Add> adds;
    for (const auto& one : numbered) adds.push_back(one.add());
    plan_cut(cut);
    const auto added = counter.add(adds);
    ASSERT_TRUE(done(added));
    for (const auto& one : *added) EXPECT_FALSE(one.replay);
  }
  EXPECT_EQ(relay_.fired(), cuts);
  expect_numbered_totals(cuts * adds_in_call);
}

TEST_P(CutCommits, OnEveryTryLeaveAnUnknownOutcomeUntilTheIdIsSentAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  const int rounds = scale(1, 2, 20);
  for (int number = 0; number < rounds; ++number) {
    plan_cut(number, 1'000);
    const auto fired = relay_.fired();
    const auto added = counter.add(NumberedAdd(number).add());
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code, ErrorCode::outcome_unknown);
    EXPECT_TRUE(added.error().outcome_unknown);
    EXPECT_FALSE(added.error().retryable);
    EXPECT_GT(relay_.fired(), fired + 1) << "it was sent again";
    relay_.plan_nothing();
    const auto again = counter.add(NumberedAdd(number).add());
    ASSERT_TRUE(done(again));
    EXPECT_EQ(again->replay, took_effect());
  }
  expect_numbered_totals(rounds);
}

TEST_P(CutCommits, OfAddsWithoutIdsAreToldAsUnknownAndNotSentAgain) {
  auto counter = make("page_views", {.key = "page", .slots = 3});
  const int cuts = scale(5, 20, 200);
  for (int cut = 0; cut < cuts; ++cut) {
    plan_cut(cut);
    const auto added = counter.add({.key = "k"});
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code, ErrorCode::outcome_unknown);
    EXPECT_TRUE(added.error().outcome_unknown);
    EXPECT_FALSE(added.error().retryable);
    EXPECT_EQ(total("page_views", "k"), took_effect() ? cut + 1 : 0);
  }
  EXPECT_EQ(relay_.fired(), cuts);
}

TEST_P(CutCommits, OfACallersTransactionAreRepeatedByTheCallerWithTheSameIds) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  value("CREATE TABLE orders (id integer PRIMARY KEY)");
  const int cuts = scale(5, 50, 200);
  for (int number = 0; number < cuts; ++number) {
    plan_cut(number);
    const auto id = std::to_string(number);
    const auto order = "INSERT INTO orders SELECT " + id + " FROM (SELECT 1) AS one WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = " + id + ")";
    int tries = 0;
    for (std::string committed; committed != "COMMIT"; ++tries) {
      ASSERT_LT(tries, 3);
      auto plain = plain_through();
      ASSERT_EQ(plain.run("BEGIN"), "BEGIN");
      plain.run(order);
      const auto added = counter.add(plain.caller(), NumberedAdd(number).add());
      ASSERT_TRUE(done(added));
      EXPECT_EQ(added->replay, tries == 1 && took_effect());
      committed = plain.run("COMMIT");
    }
    EXPECT_EQ(tries, 2);
  }
  EXPECT_EQ(relay_.fired(), cuts);
  expect_numbered_totals(cuts);
  EXPECT_EQ(value("SELECT count(*) FROM orders"), std::to_string(cuts));
}

/// A hundred adds over three counters; one counter knows ids, the others know their adds by the group alone.
class CutGroups : public CutCommits {
 protected:
  static constexpr int adds_in_group = 100;
  CutGroups()
      : prizes_(make("prizes_won", {.slots = 16})),
        views_(make("page_views", {.key = "page", .retries = for_ever})),
        tickets_(make("tickets", {.slots = 11, .pick = Pick::value})),
        combiner_(Combiner::open(through_).value_or_throw()) {}

  /// The group forms while the commit of a first add is held up.
  void expect_one_group_that_counts(int number) {
    const auto groups = combiner_.counts().groups;
    relay_.plan({.action = Action::hold_before, .delay = std::chrono::minutes(1)});
    plan_cut(number);
    const Add first{};
    auto holding = submit(combiner_, prizes_, std::span(&first, 1));
    while (combiner_.counts().items > 0 && relay_.fired() % 2 == 0) std::this_thread::yield();
    std::vector<std::future<Answers>> waiting;
    for (int i = 0; i < adds_in_group; ++i) waiting.push_back(submit_one(number, i));
    relay_.let_go();
    ASSERT_TRUE(done(holding.get().front()));
    for (auto& answers : waiting) {
      const auto answer = answers.get().front();
      ASSERT_TRUE(done(answer));
      EXPECT_FALSE(answer->replay) << "it was counted by this group, on whichever try";
    }
    EXPECT_EQ(combiner_.counts().groups, groups + 2) << "the hundred were one group";
  }
  std::future<Answers> submit_one(int number, int i) {
    const std::string id = std::to_string(number) + "/" + std::to_string(i);
    const Add prize{};
    const Add view{.key = "/home", .request_id = id};
    const Add ticket{.value = i};
    if (i % 3 == 0) return submit(combiner_, prizes_, std::span(&prize, 1));
    if (i % 3 == 1) return submit(combiner_, views_, std::span(&view, 1));
    return submit(combiner_, tickets_, std::span(&ticket, 1));
  }

  Counter prizes_;
  Counter views_;
  Counter tickets_;
  Combiner combiner_;
};
SPLITCOUNT_CUT_ON_EVERY_SERVER(CutGroups);

TEST_P(CutGroups, OfAHundredAddsOverThreeCountersCountOnce) {
  const int cuts = scale(10, 200, 200);
  for (int number = 0; number < cuts && !HasFailure(); ++number) expect_one_group_that_counts(number);
  EXPECT_EQ(relay_.fired(), 2 * cuts) << "each group met its cut, and was held before it";
  EXPECT_EQ(total("prizes_won"), 35 * cuts);
  EXPECT_EQ(total("page_views"), 33 * cuts);
  EXPECT_EQ(total("tickets"), 33 * cuts);
  EXPECT_EQ(ids("page_views"), std::to_string(33 * cuts));
}

TEST_P(CutGroups, OfAStreamAreSettledByTheirPlaceInIt) {
  const int cuts = scale(5, 25, 200);
  const std::vector<Add> adds{{.key = "a"}, {.key = "b", .amount = 2}, {.key = "a"}};
  auto words = make("words", {.key = "word"});
  for (int number = 0; number < cuts; ++number) {
    plan_cut(number);
    const auto applied = combiner_.apply(words, {"file", number, number + 1, "", adds}, in(std::chrono::minutes(1)));
    ASSERT_TRUE(done(applied));
    EXPECT_FALSE(applied->replay);
  }
  EXPECT_EQ(relay_.fired(), cuts);
  EXPECT_EQ(total("words", "a"), 2 * cuts);
  EXPECT_EQ(total("words", "b"), 2 * cuts);
}

}  // namespace
}  // namespace splitcount::faults
