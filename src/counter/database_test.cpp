#include <counter/test_ground.h>

#include <filesystem>
#include <thread>

namespace splitcount::counter {
namespace {

class DatabaseDefine : public Ground {
 protected:
  [[nodiscard]] bool file_exists() const { return std::filesystem::exists(path()); }
};

TEST_F(DatabaseDefine, ThatIsInvalidCreatesNoFile) {
  const std::vector<std::string> keys{"k"};
  const std::vector<std::string> bad_keys{"k", ""};
  EXPECT_TRUE(refused(database_.define("No Name", {}), ErrorCode::name_invalid));
  EXPECT_TRUE(refused(database_.define("select", {}), ErrorCode::name_invalid));
  EXPECT_TRUE(refused(database_.define("page_views", {.slots = 0}), ErrorCode::rule_invalid));
  EXPECT_TRUE(refused(database_.define("page_views", {.pick = Pick::request}), ErrorCode::rule_invalid));
  EXPECT_TRUE(refused(database_.define("page_views", {.layout = Layout::padded}), ErrorCode::not_on_this_engine));
  EXPECT_TRUE(refused(database_.define("page_views", {}, keys), ErrorCode::key_invalid));
  EXPECT_TRUE(refused(database_.define("page_views", {.key = "page"}, bad_keys), ErrorCode::key_invalid));
  EXPECT_FALSE(file_exists());
}

TEST_F(DatabaseDefine, IsTheOnlyOperationThatCreatesTheFile) {
  EXPECT_TRUE(refused(database_.counter("page_views"), ErrorCode::database_unavailable));
  EXPECT_TRUE(refused(database_.list(), ErrorCode::database_unavailable));
  EXPECT_TRUE(refused(database_.drop("page_views"), ErrorCode::database_unavailable));
  EXPECT_TRUE(refused(database_.uninstall(), ErrorCode::database_unavailable));
  EXPECT_TRUE(refused(database_.status(), ErrorCode::database_unavailable));
  EXPECT_FALSE(file_exists());
  EXPECT_TRUE(done(database_.define("page_views", {})));
  EXPECT_TRUE(file_exists());
}

TEST_F(DatabaseDefine, PreparesAFileOfTheUsersThatWasLookedAtBefore) {
  { Plain(path()).run("CREATE TABLE orders (id)"); }
  EXPECT_TRUE(refused(database_.counter("page_views"), ErrorCode::unknown_counter));
  EXPECT_TRUE(done(database_.define("page_views", {})));
  EXPECT_EQ(database_.status().value_or_throw().durability, "synced WAL commit");
}

TEST_F(DatabaseDefine, OptionsThatMakeNoRuleAloneMayDescribeACounterThatExists) {
  define("page_views", {.key = "page", .pick = Pick::request, .retries = Retries{true, {}}});
  Defined what;
  EXPECT_TRUE(done(database_.define("page_views", {.pick = Pick::request}, {}, &what)));
  EXPECT_FALSE(what.created);
  EXPECT_TRUE(refused(database_.define("others", {.pick = Pick::request}), ErrorCode::rule_invalid));
}

TEST_F(DatabaseDefine, SaysWhatItDid) {
  Defined what;
  const std::vector<std::string> keys{"a", "b", "a"};
  const RuleOptions options{.key = "page", .slots = 4, .pick = Pick::random, .missing = Missing::error};
  ASSERT_TRUE(done(database_.define("page_views", options, keys, &what)));
  EXPECT_TRUE(what.created);
  EXPECT_EQ(what.keys_added, 2);
  const std::vector<std::string> more{"b", "c"};
  ASSERT_TRUE(done(database_.define("page_views", {}, more, &what)));
  EXPECT_FALSE(what.created);
  EXPECT_EQ(what.keys_added, 1);
}

TEST_F(DatabaseDefine, ShowsWhereAnotherRuleDiffersAndChangesNothing) {
  auto counter = define("page_views", {.key = "page", .slots = 4, .pick = Pick::random});
  const std::vector<std::string> keys{"k"};
  const auto other = database_.define("page_views", {.slots = 8}, keys);
  EXPECT_TRUE(refused(other, ErrorCode::rule_differs));
  EXPECT_NE(other.error().message.find("slots is 4, not 8"), std::string::npos) << other.error().message;
  EXPECT_EQ(counter.keys().value_or_throw(), 0);
  EXPECT_EQ(database_.counter("page_views").value_or_throw().rule().slots, 4);
}

TEST_F(DatabaseDefine, AdvisesOnlyOnWhatWasJustCreated) {
  Defined what;
  ASSERT_TRUE(done(database_.define("prizes_won", {.slots = 12, .pick = Pick::value}, {}, &what)));
  ASSERT_EQ(what.advice.size(), 2U);
  EXPECT_NE(what.advice[0].find("11 or 13"), std::string::npos) << what.advice[0];
  EXPECT_NE(what.advice[1].find("one writer"), std::string::npos) << what.advice[1];
  ASSERT_TRUE(done(database_.define("prizes_won", {}, {}, &what)));
  EXPECT_TRUE(what.advice.empty());
  ASSERT_TRUE(done(database_.define("page_views", {.key = "page"}, {}, &what)));
  EXPECT_TRUE(what.advice.empty());
}

TEST_F(DatabaseDefine, OfTwoProgramsAtOnceOneCreatesAndTheOtherFinds) {
  for (int round = 0; round < 10; ++round) {
    const std::string name = "counter_" + std::to_string(round);
    std::vector<Defined> what(4);
    std::vector<std::thread> threads;
    for (Defined& one : what) {
      threads.emplace_back([&] {
        auto database = another();
        EXPECT_TRUE(done(database.define(name, {.key = "page"}, {}, &one)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::count_if(what.begin(), what.end(), [](const Defined& one) { return one.created; }), 1);
  }
}

TEST_F(DatabaseDefine, AnUnknownCommitIsSettledBySendingItAgain) {
  for (const auto fault : {CommitFault::lost_kept, CommitFault::lost_not_kept}) {
    faults_->at_commits({fault});
    Defined what;
    const std::vector<std::string> keys{"a"};
    const std::string name = fault == CommitFault::lost_kept ? "kept" : "lost";
    EXPECT_TRUE(done(database_.define(name, {.key = "page"}, keys, &what)));
    EXPECT_TRUE(what.created);
    EXPECT_EQ(what.keys_added, 1);
  }
  EXPECT_EQ(faults_->fired(), 2);
}

class DatabaseFind : public Ground {};

TEST_F(DatabaseFind, NamesTheNearestCounterOrHowToDefineOne) {
  define("page_views", {});
  const auto slip = database_.counter("page_vews");
  EXPECT_TRUE(refused(slip, ErrorCode::unknown_counter));
  EXPECT_NE(slip.error().message.find("page_views"), std::string::npos) << slip.error().message;
  const auto other = database_.counter("something_else");
  EXPECT_TRUE(refused(other, ErrorCode::unknown_counter));
  EXPECT_NE(other.error().message.find("splitcount define"), std::string::npos) << other.error().message;
  const auto hostile = database_.counter("x'; DROP TABLE orders; --\n");
  EXPECT_TRUE(refused(hostile, ErrorCode::unknown_counter));
  EXPECT_EQ(hostile.error().message.find('\n'), std::string::npos);
}

TEST_F(DatabaseFind, SaysThatADatabaseHasNoCountersYet) {
  { Plain(path()).run("CREATE TABLE orders (id)"); }
  const auto none = database_.counter("page_views");
  EXPECT_TRUE(refused(none, ErrorCode::unknown_counter));
  EXPECT_NE(none.error().message.find("no counters yet"), std::string::npos) << none.error().message;
  EXPECT_TRUE(refused(database_.drop("page_views"), ErrorCode::unknown_counter));
  EXPECT_TRUE(database_.list().value_or_throw().empty());
  EXPECT_EQ(database_.status().value_or_throw().schema_version, 0);
  EXPECT_TRUE(refused(database_.uninstall(), ErrorCode::not_installed));
}

TEST_F(DatabaseFind, ACounterKeepsItsDatabaseAlive) {
  auto counter = [](const std::string& file) {
    auto database = Database::open(file).value_or_throw();
    return database.define("visits", {}).value_or_throw();
  }(path());
  EXPECT_TRUE(done(counter.add(Add{})));
  EXPECT_EQ(total(counter), 1);
}

TEST(DatabaseScript, RefusesWhatDefineRefusesWithoutADatabase) {
  const std::vector<std::string> keys{"k"};
  EXPECT_TRUE(done(Database::script("sqlite", "page_views", {.key = "page"}, keys)));
  EXPECT_TRUE(refused(Database::script("sqlight", "page_views", {}), ErrorCode::invalid_argument));
  EXPECT_TRUE(refused(Database::script("sqlite", "Page", {}), ErrorCode::name_invalid));
  EXPECT_TRUE(refused(Database::script("sqlite", "page_views", {.slots = 1'025}), ErrorCode::rule_invalid));
  EXPECT_TRUE(refused(Database::script("sqlite", "page_views", {}, keys), ErrorCode::key_invalid));
}

}  // namespace
}  // namespace splitcount::counter
