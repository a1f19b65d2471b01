// Defining, finding, listing and removing counters.
#include <algorithm>
#include <atomic>
#include <thread>

#include <contract/contract.h>

namespace splitcount::contract {
namespace {

class Define : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(Define);

TEST_P(Define, FillsInTheDefaultsOfTheRule) {
  const auto keyed = make("page_views", {.key = "page"}).rule();
  EXPECT_EQ(keyed.slots, traits().slots_default);
  EXPECT_EQ(keyed.pick, Pick::spread);
  EXPECT_EQ(keyed.missing, Missing::create);
  EXPECT_FALSE(keyed.retries.once);
  EXPECT_FALSE(keyed.freshness.rolled_up.has_value());
  EXPECT_EQ(keyed.layout, Layout::compact);
  const auto plain = make("prizes_won", {}).rule();
  EXPECT_FALSE(plain.key.has_value());
  EXPECT_EQ(plain.pick, Pick::session);
  EXPECT_EQ(plain.missing, Missing::error);
}

TEST_P(Define, AgainWithTheSameRuleChangesNothing) {
  const RuleOptions options{.key = "page", .slots = 4, .pick = Pick::random};
  auto counter = make("page_views", options);
  ASSERT_TRUE(done(counter.add({.key = "/home", .amount = 3})));
  const auto before = database_->list().value_or_throw();
  Defined what;
  ASSERT_TRUE(done(database_->define("page_views", options, {}, &what)));
  EXPECT_FALSE(what.created);
  EXPECT_EQ(what.keys_added, 0);
  EXPECT_EQ(total(counter, "/home"), 3);
  const auto after = database_->list().value_or_throw();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after.front().version, before.front().version);
}

TEST_P(Define, OptionsLeftOutMeanAsStored) {
  make("page_views", {.key = "page",
                      .slots = 4,
                      .pick = Pick::random,
                      .missing = Missing::error,
                      .retries = Retries{true, std::chrono::hours(24)}});
  Defined what;
  const auto again = database_->define("page_views", {}, {}, &what);
  ASSERT_TRUE(done(again));
  EXPECT_FALSE(what.created);
  EXPECT_EQ(again->rule().slots, 4);
  EXPECT_EQ(again->rule().pick, Pick::random);
  EXPECT_EQ(again->rule().retries, (Retries{true, std::chrono::hours(24)}));
  ASSERT_TRUE(done(database_->define("page_views", {.slots = 4})));
}

TEST_P(Define, AnotherRuleIsRefusedAndTheDifferenceIsShown) {
  auto counter = make("page_views", {.key = "page", .slots = 4});
  ASSERT_TRUE(done(counter.add({.key = "/home"})));
  const auto other = database_->define("page_views", {.slots = 8});
  ASSERT_TRUE(refused(other, ErrorCode::rule_differs));
  EXPECT_NE(other.error().message.find('4'), std::string::npos) << other.error().message;
  EXPECT_NE(other.error().message.find('8'), std::string::npos) << other.error().message;
  EXPECT_TRUE(refused(database_->define("page_views", {.key = "path"}), ErrorCode::rule_differs));
  EXPECT_TRUE(refused(database_->define("page_views", {.pick = Pick::random}), ErrorCode::rule_differs));
  EXPECT_TRUE(refused(database_->define("page_views", {.missing = Missing::error}), ErrorCode::rule_differs));
  EXPECT_TRUE(refused(database_->define("page_views", {.retries = Retries{true, {}}}), ErrorCode::rule_differs));
  EXPECT_EQ(counter.rule().slots, 4);
  EXPECT_EQ(total(counter, "/home"), 1);
}

TEST_P(Define, AnotherRuleAddsNoKeys) {
  auto counter = make("prizes", {.key = "prize", .slots = 2, .missing = Missing::error}, {"car"});
  const std::vector<std::string> more{"boat"};
  EXPECT_TRUE(refused(database_->define("prizes", {.slots = 3}, more), ErrorCode::rule_differs));
  EXPECT_TRUE(refused(counter.total("boat"), ErrorCode::key_missing));
}

TEST_P(Define, AddsKeysToACounterThatExists) {
  auto counter = make("prizes", {.key = "prize", .slots = 3, .missing = Missing::error}, {"car"});
  ASSERT_TRUE(done(counter.add({.key = "car", .amount = 5})));
  const std::vector<std::string> keys{"boat", "car", "boat", "hat"};
  Defined what;
  ASSERT_TRUE(done(database_->define("prizes", {}, keys, &what)));
  EXPECT_FALSE(what.created);
  EXPECT_EQ(what.keys_added, 2);
  EXPECT_EQ(total(counter, "car"), 5);
  EXPECT_EQ(slots(counter, "boat"), (std::vector<Slot>{{0, 0}, {1, 0}, {2, 0}}));
  EXPECT_EQ(counter.keys().value_or_throw(), 3);
  EXPECT_TRUE(done(counter.add({.key = "hat"})));
}

TEST_P(Define, GivesAKeylessCounterAllItsSlots) {
  auto counter = make("prizes_won", {.slots = 3});
  EXPECT_EQ(slots(counter), (std::vector<Slot>{{0, 0}, {1, 0}, {2, 0}}));
  EXPECT_EQ(total(counter), 0);
}

TEST_P(Define, RefusesKeysForACounterWithoutOne) {
  const std::vector<std::string> keys{"a"};
  EXPECT_TRUE(refused(database_->define("prizes_won", {}, keys), ErrorCode::key_invalid));
  EXPECT_FALSE(database_->counter("prizes_won").has_value());
}

TEST_P(Define, OneBadKeyOfManyDefinesNothing) {
  make("other", {.key = "page"});
  for (const std::string& bad : {std::string(), std::string(769, 'k'), std::string("\xff"), std::string("a\0b", 3)}) {
    const std::vector<std::string> keys{"good", bad};
    EXPECT_TRUE(refused(database_->define("prizes", {.key = "prize", .missing = Missing::error}, keys),
                        ErrorCode::key_invalid));
  }
  EXPECT_TRUE(refused(database_->counter("prizes"), ErrorCode::unknown_counter));
}

TEST_P(Define, RefusesNamesThatAreNoNames) {
  for (const std::string name :
       {"", "Page", "page views", "page'views", "page\"views", "p;drop table x", "1page", "_page", "select", "slot",
        "page_views_slots", "splitcount_counters", "sqlite_x", "s\xc3\xa9jour", "page-views"}) {
    EXPECT_TRUE(refused(database_->define(name, {.key = "page"}), ErrorCode::name_invalid)) << name;
  }
  EXPECT_TRUE(refused(database_->define(std::string(41, 'a'), {}), ErrorCode::name_invalid));
  EXPECT_TRUE(refused(database_->define(std::string(200, 'a'), {}), ErrorCode::name_invalid));
  EXPECT_TRUE(refused(database_->define(std::string("a\0b", 3), {}), ErrorCode::name_invalid));
  EXPECT_TRUE(done(database_->define(std::string(40, 'a'), {})));
}

TEST_P(Define, RefusesKeyColumnsThatAreNoNames) {
  for (const std::string key :
       {"", "Page", "a b", "slot", "n", "amount", "request_id", "value", "total", "select", "x\"; drop table y; --"}) {
    EXPECT_TRUE(refused(database_->define("page_views", {.key = key}), ErrorCode::name_invalid)) << key;
  }
}

TEST_P(Define, RefusesRulesOutOfRangeOrInContradiction) {
  for (const int count : {0, -1, 1025, INT32_MAX}) {
    EXPECT_TRUE(refused(database_->define("page_views", {.slots = count}), ErrorCode::rule_invalid)) << count;
  }
  EXPECT_TRUE(refused(database_->define("page_views", {.pick = Pick::request}), ErrorCode::rule_invalid));
  EXPECT_TRUE(refused(database_->define("page_views", {.retries = Retries{true, std::chrono::seconds(0)}}),
                      ErrorCode::rule_invalid));
  EXPECT_TRUE(done(database_->define("widest", {.slots = 1024})));
  EXPECT_EQ(slots(database_->counter("widest").value_or_throw()).size(), 1024U);
}

TEST_P(Define, RefusesWhatTheEngineDoesNotDo) {
  if (!traits().padded) {
    EXPECT_TRUE(refused(database_->define("a1", {.layout = Layout::padded}), ErrorCode::not_on_this_engine));
  }
  if (!traits().journal) {
    EXPECT_TRUE(refused(database_->define("a2", {.layout = Layout::journal}), ErrorCode::not_on_this_engine));
  }
  if (!traits().rolled_up) {
    EXPECT_TRUE(refused(database_->define("a3", {.freshness = Freshness{std::chrono::hours(1)}}),
                        ErrorCode::not_on_this_engine));
  }
}

TEST_P(Define, RefusesANameWhoseObjectsAreInTheWay) {
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->run("CREATE TABLE page_views (x integer)")));
  ASSERT_TRUE(ran(session->run("CREATE TABLE clicks_slots (x integer)")));
  ASSERT_TRUE(ran(session->run("CREATE VIEW likes_add AS SELECT 1 AS x")));
  for (const std::string name : {"page_views", "clicks", "likes"}) {
    const auto clash = database_->define(name, {.key = "page"});
    ASSERT_TRUE(refused(clash, ErrorCode::name_clash)) << name;
    EXPECT_NE(clash.error().message.find(name), std::string::npos) << clash.error().message;
    EXPECT_FALSE(database_->counter(name).has_value());
  }
  EXPECT_TRUE(ran(session->run("INSERT INTO page_views (x) VALUES (1)")));
  EXPECT_EQ(stand_->damage(), "");
}

TEST_P(Define, ManyProgramsAtOnceMakeOneCounter) {
  constexpr int programs = 8;
  std::atomic<int> created{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < programs; ++i) {
    threads.emplace_back([&] {
      auto database = another();
      Defined what;
      const std::vector<std::string> keys{"a", "b"};
      EXPECT_TRUE(done(database.define("prizes", {.key = "prize", .slots = 4}, keys, &what)));
      if (what.created) ++created;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(created, 1);
  EXPECT_EQ(slots(database_->counter("prizes").value_or_throw(), "a").size(), 4U);
}

TEST_P(Define, ManyProgramsAtOnceWithDifferentRulesLeaveOneRule) {
  constexpr int programs = 8;
  std::atomic<int> made{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < programs; ++i) {
    threads.emplace_back([&, i] {
      auto database = another();
      const auto defined = database.define("prizes", {.key = "prize", .slots = i + 2});
      if (defined) {
        ++made;
        EXPECT_EQ(defined->rule().slots, i + 2);
      } else {
        EXPECT_TRUE(refused(defined, ErrorCode::rule_differs));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_P(Define, TheScriptRunsBesideCountersThatAreThereAlready) {
  auto first = make("page_views", {.key = "page"});
  ASSERT_TRUE(done(first.add({.key = "/", .amount = 2})));
  const auto script = Database::script(traits().dialect, "prizes", {.key = "prize", .slots = 2}).value_or_throw();
  ASSERT_TRUE(ran(stand_->session()->run(script)));
  EXPECT_TRUE(done(database_->counter("prizes")));
  EXPECT_EQ(total(first, "/"), 2);
  const auto list = database_->list().value_or_throw();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_NE(list[0].version, list[1].version);
}

TEST_P(Define, TheScriptMakesTheSameObjectsAsDefine) {
  auto other = engine_->make();
  const auto edition = engine_->edition == Edition::defined ? Edition::by_hand : Edition::defined;
  auto database = Database::open(other->dsn()).value_or_throw();
  for (const auto layout : {Layout::compact, Layout::padded, Layout::journal}) {
    if ((layout == Layout::padded && !traits().padded) || (layout == Layout::journal && !traits().journal)) continue;
    const RuleOptions options{
        .key = "page", .slots = 3, .retries = Retries{true, std::chrono::hours(1)}, .layout = layout};
    make("page_views", options, {"/a"});
    ASSERT_TRUE(done(make_counter(edition, *other, database, "page_views", options, {"/a"})));
    EXPECT_EQ(stand_->objects(), other->objects());
    const auto mine = database_->list().value_or_throw();
    const auto theirs = database.list().value_or_throw();
    EXPECT_EQ(mine.front().rule, theirs.front().rule);
    EXPECT_EQ(slots(database_->counter("page_views").value_or_throw(), "/a"),
              slots(database.counter("page_views").value_or_throw(), "/a"));
    for (auto* one : {database_.get(), &database}) ASSERT_TRUE(done(one->drop("page_views")));
  }
}

TEST_P(Define, TheScriptTakesKeysWithQuotesAsTheyAre) {
  const std::vector<std::string> keys{"it's", "a\"b", "x'); DROP TABLE prizes_slots; --", "back\\slash", "{key}"};
  auto counter = make("prizes", {.key = "prize", .missing = Missing::error}, keys);
  EXPECT_EQ(counter.keys().value_or_throw(), static_cast<std::int64_t>(keys.size()));
  for (const auto& key : keys) EXPECT_TRUE(done(counter.add({.key = key}))) << key;
}

class Find : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(Find);

TEST_P(Find, RulesArePersistentAcrossPrograms) {
  const RuleOptions options{.key = "page",
                            .slots = 7,
                            .pick = Pick::request,
                            .missing = Missing::error,
                            .retries = Retries{true, std::chrono::hours(36)}};
  const auto rule = make("page_views", options).rule();
  auto other = another();
  const auto found = other.counter("page_views");
  ASSERT_TRUE(done(found));
  EXPECT_EQ(found->rule(), rule);
  EXPECT_EQ(found->rule().retries.window, std::chrono::hours(36));
}

TEST_P(Find, AnUnknownCounterIsRefusedWithTheNearestName) {
  make("page_views", {.key = "page"});
  const auto found = database_->counter("page_veiws");
  ASSERT_TRUE(refused(found, ErrorCode::unknown_counter));
  EXPECT_NE(found.error().message.find("page_views"), std::string::npos) << found.error().message;
}

TEST_P(Find, ListsCountersByNameWithRulesAndVersions) {
  make("zebra", {.key = "page"});
  make("apple", {.slots = 2});
  const auto list = database_->list().value_or_throw();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "apple");
  EXPECT_EQ(list[0].rule.slots, 2);
  EXPECT_EQ(list[1].name, "zebra");
  EXPECT_GT(list[0].version, list[1].version) << "a rule that was written later has a higher version";
  EXPECT_GT(list[0].created_at.time_since_epoch().count(), 0);
}

TEST_P(Find, StatusNamesEngineDurabilityAndCounters) {
  make("page_views", {.key = "page"});
  const auto status = database_->status();
  ASSERT_TRUE(done(status));
  EXPECT_EQ(status->engine, traits().engine);
  EXPECT_FALSE(status->engine_version.empty());
  EXPECT_FALSE(status->durability.empty());
  EXPECT_EQ(status->counters, 1);
  EXPECT_GT(status->schema_version, 0);
  EXPECT_GT(status->size_bytes, 0);
}

class Remove : public Contract {};
SPLITCOUNT_ON_EVERY_ENGINE(Remove);

TEST_P(Remove, DropTakesOneCounterWithAllItsObjects) {
  make("kept", {.key = "page"});
  const auto before = stand_->objects();
  auto counter = make("gone", {.key = "page", .retries = Retries{true, {}}});
  ASSERT_TRUE(done(counter.add({.key = "a", .request_id = "r1"})));
  ASSERT_TRUE(done(database_->drop("gone")));
  EXPECT_EQ(stand_->objects(), before);
  EXPECT_TRUE(refused(database_->counter("gone"), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(database_->drop("gone"), ErrorCode::unknown_counter));
  EXPECT_TRUE(refused(counter.add({.key = "a"}), ErrorCode::unknown_counter));
  EXPECT_TRUE(done(database_->counter("kept")));
}

TEST_P(Remove, ADroppedCounterStartsAtZeroAgain) {
  auto counter = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  ASSERT_TRUE(done(counter.add({.key = "a", .amount = 9, .request_id = "r1"})));
  const auto version = database_->list().value_or_throw().front().version;
  ASSERT_TRUE(done(database_->drop("page_views")));
  auto again = make("page_views", {.key = "page", .retries = Retries{true, {}}});
  EXPECT_EQ(total(again, "a"), 0);
  const auto added = again.add({.key = "a", .request_id = "r1"});
  ASSERT_TRUE(done(added));
  EXPECT_FALSE(added->replay);
  EXPECT_GT(database_->list().value_or_throw().front().version, version) << "versions are never used twice";
}

TEST_P(Remove, UninstallLeavesTheUsersOwnTables) {
  auto session = stand_->session();
  ASSERT_TRUE(ran(session->run("CREATE TABLE orders (id integer)")));
  ASSERT_TRUE(ran(session->run("CREATE TABLE splitcounters (id integer)")));
  ASSERT_TRUE(ran(session->run("CREATE TABLE page_views_archive (id integer)")));
  const auto before = stand_->objects();
  make("page_views", {.key = "page", .retries = Retries{true, {}}});
  make("prizes_won", {});
  ASSERT_TRUE(done(database_->uninstall()));
  EXPECT_EQ(stand_->objects(), before);
  EXPECT_EQ(database_->status().value_or_throw().schema_version, 0);
  EXPECT_TRUE(refused(database_->counter("page_views"), ErrorCode::unknown_counter));
  make("page_views", {.key = "page"});
  EXPECT_TRUE(done(database_->counter("page_views")));
}

TEST_P(Remove, UninstallOfNothingIsRefused) {
  ASSERT_TRUE(ran(stand_->session()->run("CREATE TABLE orders (id integer)")));
  EXPECT_TRUE(refused(database_->uninstall(), ErrorCode::not_installed));
  EXPECT_EQ(stand_->objects(), std::vector<std::string>{"orders"});
}

}  // namespace
}  // namespace splitcount::contract
