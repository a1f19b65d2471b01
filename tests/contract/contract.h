// The fixtures and the words of the contract suite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <contract/door.h>
#include <contract/stand.h>

namespace splitcount::contract {

inline constexpr std::int64_t amount_max = INT64_MAX;
inline constexpr std::int64_t amount_min = INT64_MIN;

/// EXPECT_TRUE(done(result)) tells the error where there is one.
template <class T>
[[nodiscard]] testing::AssertionResult done(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << error_code_name(result.error().code) << ": " << result.error().message;
}
template <class T>
[[nodiscard]] testing::AssertionResult ran(const SqlResult<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().message;
}

/// A refusal with this code, in one sentence that does not claim an unknown outcome.
template <class T>
[[nodiscard]] testing::AssertionResult refused(const Result<T>& result, ErrorCode code) {
  if (result) return testing::AssertionFailure() << "done, where " << error_code_name(code) << " was due";
  const auto& error = result.error();
  if (error.code != code) {
    return testing::AssertionFailure() << error_code_name(error.code) << " (" << error.message << ") where "
                                       << error_code_name(code) << " was due";
  }
  if (error.message.empty() || error.message.back() == '.' || error.message.find('\n') != std::string::npos) {
    return testing::AssertionFailure() << "this is not one sentence without a full stop: " << error.message;
  }
  if (error.outcome_unknown) return testing::AssertionFailure() << "the outcome is said to be unknown";
  return testing::AssertionSuccess();
}

/// What every test has: a fresh database, and counters made in the way of the edition.
template <class Parameter>
class Ground : public testing::TestWithParam<Parameter> {
 protected:
  void start(const EngineUnderTest& engine) {
    engine_ = &engine;
    stand_ = engine.make();
    database_ = std::make_unique<Database>(Database::open(stand_->dsn()).value_or_throw());
  }
  Counter make(std::string_view name, RuleOptions options, const std::vector<std::string>& keys = {}) {
    if (!options.layout) options.layout = engine_->layout;
    return make_counter(engine_->edition, *stand_, *database_, name, options, keys).value_or_throw();
  }
  /// Another program: a Database object of its own on the same database.
  Database another() { return Database::open(stand_->dsn()).value_or_throw(); }
  [[nodiscard]] const Traits& traits() const { return stand_->traits(); }

  static std::int64_t total(const Counter& counter, std::string_view key = {}) {
    const auto read = counter.total(key);
    EXPECT_TRUE(done(read)) << "total of " << testing::PrintToString(std::string(key));
    return read ? read->total : -1;
  }
  static std::vector<Slot> slots(const Counter& counter, std::string_view key = {}) {
    auto read = counter.slots(key);
    EXPECT_TRUE(done(read));
    return read ? *read : std::vector<Slot>{};
  }

  const EngineUnderTest* engine_ = nullptr;
  std::unique_ptr<Stand> stand_;
  std::unique_ptr<Database> database_;
};

/// Facts that do not depend on the door.
class Contract : public Ground<EngineUnderTest> {
 protected:
  void SetUp() override { start(GetParam()); }
};

/// Facts that hold at every door.
using EngineAndDoor = std::tuple<EngineUnderTest, DoorKind>;
class EveryDoor : public Ground<EngineAndDoor> {
 protected:
  void SetUp() override {
    start(std::get<0>(GetParam()));
    kind_ = std::get<1>(GetParam());
    door_ = open_door(kind_, *stand_, *database_);
  }
  Result<Told> add(Counter& counter, const Add& add) { return door_->add(counter, add); }
  [[nodiscard]] bool by_sql() const { return kind_ == DoorKind::sql; }

  DoorKind kind_ = DoorKind::own;
  std::unique_ptr<Door> door_;
};

inline std::string engine_test_name(const testing::TestParamInfo<EngineUnderTest>& info) { return info.param.name; }
inline std::string door_test_name(const testing::TestParamInfo<EngineAndDoor>& info) {
  return std::get<0>(info.param).name + "_" + door_name(std::get<1>(info.param));
}

#define SPLITCOUNT_ON_EVERY_ENGINE(fixture)                                                                \
  INSTANTIATE_TEST_SUITE_P(Engine, fixture, testing::ValuesIn(splitcount::contract::engines_under_test()), \
                           splitcount::contract::engine_test_name)
#define SPLITCOUNT_AT_EVERY_DOOR(fixture)                                                                    \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      Door, fixture,                                                                                         \
      testing::Combine(testing::ValuesIn(splitcount::contract::engines_under_test()),                        \
                       testing::Values(DoorKind::own, DoorKind::caller, DoorKind::sql, DoorKind::combined)), \
      splitcount::contract::door_test_name)

}  // namespace splitcount::contract
