// What is still on its way when its sender has given it up: a commit that lands late, a transaction whose
// client has gone without a word, connections that broke while they lay idle.
#include <faults/relayed.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using contract::done;
using std::chrono::milliseconds;

const Retries for_ever{true, {}};

class Late : public RelayedGround<testing::TestWithParam<Server>> {
 protected:
  Late() : RelayedGround(GetParam()) {}
  void wait_until_delivered(int number) {
    const auto deadline = in(std::chrono::minutes(1));
    while (relay_.delivered() < number && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    ASSERT_EQ(relay_.delivered(), number) << "the commit landed";
  }
};
SPLITCOUNT_ON_EVERY_SERVER(Late);

TEST_P(Late, CommitsOfAddsWithIdsAreWaitedForAndCountOnce) {
  auto counter = make("page_views", {.key = "page", .slots = 3, .retries = for_ever});
  // The last is later than a function waits for an id, so that the id is found in flight first.
  const std::vector<int> delays_ms{0, 1, 20, 100, 400, 2'600};
  int sent = 0;
  for (const int delay_ms : delays_ms) {
    relay_.plan({.action = Action::deliver_late, .reset = sent % 2 == 1, .delay = milliseconds(delay_ms)});
    const std::string id = std::to_string(sent++);
    const auto added = counter.add({.key = "k", .request_id = id});
    ASSERT_TRUE(done(added)) << delay_ms;
    EXPECT_FALSE(added->replay) << "it was counted by this call";
    wait_until_delivered(sent);
    EXPECT_EQ(total("page_views", "k"), sent) << delay_ms;
    EXPECT_TRUE(counter.add({.key = "k", .request_id = id}).value_or_throw().replay);
  }
  EXPECT_EQ(relay_.fired(), sent);
  EXPECT_EQ(total("page_views", "k"), sent);
}

TEST_P(Late, CommitsOfAddsWithoutIdsWereToldAsUnknown) {
  auto counter = make("page_views", {.key = "page", .slots = 3});
  relay_.plan({.action = Action::deliver_late, .delay = milliseconds(100)});
  const auto added = counter.add({.key = "k"});
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, ErrorCode::outcome_unknown);
  EXPECT_EQ(total("page_views", "k"), 0) << "whoever looked now would count it again";
  wait_until_delivered(1);
  EXPECT_EQ(total("page_views", "k"), 1);
}

TEST_P(Late, CommitsOfGroupsAndStreamsAreWaitedForAndCountOnce) {
  auto counter = make("page_views", {.key = "page", .slots = 3});
  auto combiner = Combiner::open(through_).value_or_throw();
  const std::vector<Add> adds(10, Add{.key = "k"});
  int sent = 0;
  for (const int delay_ms : {0, 20, 400}) {
    relay_.plan({.action = Action::deliver_late, .delay = milliseconds(delay_ms)});
    for (const auto& answer : submit(combiner, counter, adds).get()) EXPECT_TRUE(done(answer));
    relay_.plan({.action = Action::deliver_late, .delay = milliseconds(delay_ms)});
    const auto applied = combiner.apply(counter, {"s", sent / 2, sent / 2 + 1, "", adds}, in(std::chrono::minutes(1)));
    ASSERT_TRUE(done(applied));
    EXPECT_FALSE(applied->replay);
    sent += 2;
    wait_until_delivered(sent);
    EXPECT_EQ(total("page_views", "k"), 10 * sent) << delay_ms;
  }
}

TEST_P(Late, TransactionsWhoseClientHasGoneAreEndedByTheServerAndTheirAddsSettled) {
  auto counter = make("page_views", {.key = "page", .slots = 1, .retries = for_ever});
  auto combiner = Combiner::open(through_).value_or_throw();
  const std::vector<Add> adds(10, Add{.key = "k"});
  relay_.plan({.action = Action::abandon, .delay = std::chrono::minutes(2)});
  const auto start = std::chrono::steady_clock::now();
  for (const auto& answer : submit(combiner, counter, adds).get()) EXPECT_TRUE(done(answer));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "it held the only slot";
  EXPECT_EQ(total("page_views", "k"), 10);
  // An add on its own holds its id and its slot for longer, as it may wait for longer.
  relay_.plan({.action = Action::abandon, .delay = std::chrono::minutes(2)});
  auto added = counter.add({.key = "k", .request_id = "x"});
  for (int tries = 0; !added && tries < 10; ++tries) added = counter.add({.key = "k", .request_id = "x"});
  ASSERT_TRUE(done(added));
  EXPECT_EQ(total("page_views", "k"), 11);
  EXPECT_EQ(relay_.fired(), 2);
}

TEST_P(Late, ConnectionsThatBrokeWhileIdleAreNotUsed) {
  auto counter = make("page_views", {.key = "page", .slots = 16});
  // Many at once, so that many lie idle afterwards.
  const auto many_at_once = [&] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([counter]() mutable { EXPECT_TRUE(done(counter.add({.key = "k"}))); });
    }
    for (auto& thread : threads) thread.join();
  };
  relay_.plan({.action = Action::hold_before, .times = 8, .delay = milliseconds(200)});
  many_at_once();
  EXPECT_EQ(relay_.fired(), 8);
  const auto before = relay_.connections();
  EXPECT_GE(before, 8);
  relay_.cut_all();
  EXPECT_EQ(counter.total("k").value_or_throw().total, 8);
  EXPECT_TRUE(done(through_.status()));
  EXPECT_TRUE(done(through_.list()));
  EXPECT_TRUE(done(through_.counter("page_views")));
  many_at_once();
  EXPECT_EQ(counter.total("k").value_or_throw().total, 16);
  EXPECT_GT(relay_.connections(), before) << "new ones were made";
}

}  // namespace
}  // namespace splitcount::faults
