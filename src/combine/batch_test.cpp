// Batches of a stream, with and without faults.
#include <combine/test_combined.h>

#include <base/limits.h>

namespace splitcount::combine {
namespace {

class Batches : public Combined {
 protected:
  void SetUp() override { counter_ = std::make_unique<Counter>(define("page_views", {.key = "page"})); }
  Result<Applied> apply(std::int64_t from, std::int64_t to, std::span<const Add> adds, Deadline deadline = far_away()) {
    return combiner_.apply(*counter_, {"stream", from, to, "checkpoint", adds}, deadline);
  }
  std::unique_ptr<Counter> counter_;
  Combiner combiner_ = open();
  const std::vector<Add> adds_{{.key = "a"}, {.key = "b", .amount = 2}};
};

TEST_F(Batches, AreAppliedOnceAcrossUnknownCommitsAndKnowTheirOwnFirstTry) {
  ASSERT_TRUE(done(counter_->add({.key = "full", .amount = INT64_MAX})));
  const std::vector<Add> adds{{.key = "a"}, {.key = "full"}};
  std::int64_t position = 0;
  for (const auto fault : {CommitFault::lost_kept, CommitFault::lost_not_kept, CommitFault::given_up}) {
    faults_->at_commits({fault});
    const auto applied = apply(position, position + 1, adds);
    ASSERT_TRUE(done(applied));
    EXPECT_FALSE(applied->replay);
    ASSERT_EQ(applied->refused.size(), 1U);
    EXPECT_EQ(applied->refused.front().index, 1U);
    EXPECT_EQ(applied->refused.front().error.code, ErrorCode::out_of_range);
    ++position;
    EXPECT_EQ(total(*counter_, "a"), position);
  }
  EXPECT_EQ(faults_->fired(), 3);
  EXPECT_TRUE(apply(position - 1, position, adds).value_or_throw().replay);
  EXPECT_EQ(total(*counter_, "a"), position);
}

TEST_F(Batches, WithRetriesUsedUpChangeNothing) {
  for (int i = 0; i < limits::call_tries_max; ++i) faults_->at_commits({CommitFault::given_up});
  EXPECT_TRUE(refused(apply(0, 10, adds_), ErrorCode::serialization_failure));
  EXPECT_EQ(total(*counter_), 0);
  EXPECT_TRUE(combiner_.streams("stream").value_or_throw().empty());
  EXPECT_TRUE(done(apply(0, 10, adds_)));
}

TEST_F(Batches, ThatCannotBeSettledAreUnknownAndKnownLater) {
  faults_->at_commits({CommitFault::lost_kept});
  faults_->at_connects(limits::call_tries_max, ErrorCode::database_unavailable);
  const auto applied = apply(0, 10, adds_);
  ASSERT_FALSE(applied.has_value());
  EXPECT_TRUE(applied.error().outcome_unknown);
  faults_->stop();
  EXPECT_TRUE(apply(0, 10, adds_).value_or_throw().replay);
  EXPECT_EQ(total(*counter_), 3);
}

TEST_F(Batches, RefuseIdsAndPassedDeadlines) {
  const std::vector<Add> with_id{{.key = "a", .request_id = "x"}};
  EXPECT_TRUE(refused(apply(0, 10, with_id), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(apply(0, 10, adds_, in_ms(-1)), ErrorCode::deadline_exceeded));
  EXPECT_EQ(total(*counter_), 0);
}

TEST_F(Batches, NameAddsThatAreNotRightByTheRuleAndCountTheOthers) {
  const std::vector<Add> adds{{.key = "a"}, {}, {.key = "\xff"}, {.key = "b"}};
  const auto applied = apply(0, 10, adds).value_or_throw();
  ASSERT_EQ(applied.refused.size(), 2U);
  EXPECT_EQ(applied.refused[0].index, 1U);
  EXPECT_EQ(applied.refused[1].index, 2U);
  EXPECT_EQ(total(*counter_), 2);
}

TEST_F(Batches, FollowARuleThatWasChangedMeanwhile) {
  auto theirs = another();
  ASSERT_TRUE(done(theirs.drop("page_views")));
  auto now = theirs.define("page_views", {.key = "path", .slots = 4, .pick = Pick::random}).value_or_throw();
  EXPECT_TRUE(apply(0, 10, adds_).value_or_throw().refused.empty());
  EXPECT_EQ(total(now), 3);
  ASSERT_TRUE(done(theirs.drop("page_views")));
  EXPECT_TRUE(refused(apply(10, 20, adds_), ErrorCode::unknown_counter));
}

TEST_F(Batches, WaitForTheDatabaseUntilTheDeadline) {
  const Blocker blocker(path());
  EXPECT_TRUE(refused(apply(0, 10, adds_, in_ms(30)), ErrorCode::database_busy));
}

}  // namespace
}  // namespace splitcount::combine
