// What was told of an add, where a write or a sync of its transaction fails.
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <engine/sqlite/faulty_files.h>
#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

/// What was told of an add must be true, whichever write or sync of its transaction fails.
class Faults : public TestDatabase, public ::testing::WithParamInterface<std::tuple<Fault, const char*>> {
 protected:
  [[nodiscard]] static Fault fault() { return std::get<0>(GetParam()); }
  FaultyFiles files_;  // outlives no connection: see TearDown
  void TearDown() override { disconnect(); }

  static Result<void> add_one(Connection& c, const StoredCounter& counter) {
    auto done = c.begin(soon());
    if (!done) return done;
    auto applied = c.apply(counter, std::vector{to_key("k", 1, 0, "X")}, Refusal::all);
    if (applied) return c.commit();
    c.rollback();
    return fail(std::move(applied.error()));
  }
  [[nodiscard]] std::int64_t total_now(const StoredCounter& counter) const {
    const auto other = connect(false);
    const auto total = other->total(counter, "k");
    EXPECT_TRUE(total) << (total ? "" : total.error().message);
    return total && *total ? (*total)->total : 0;
  }
};

/// The total that is found after a crash at this moment: only the files are left, and no shared memory.
std::int64_t total_after_crash(const std::string& path, const StoredCounter& counter) {
  const TestFolder crashed;
  const auto copy = crashed.file("test.db");
  for (const auto* ending : {"", "-wal", "-journal"}) {
    if (std::filesystem::exists(path + ending)) std::filesystem::copy_file(path + ending, copy + ending);
  }
  auto found = (*engine::open(copy))->connect(false, soon());
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  const auto total = (*found)->total(counter, "k");
  EXPECT_TRUE(total) << (total ? "" : total.error().message);
  return total && *total ? (*total)->total : 0;
}

TEST_P(Faults, AtEveryCallAreToldAsTheyAre) {
  auto rule = by_page();
  rule.retries.once = true;
  auto counter = define("page_views", rule);
  disconnect();
  Plain(path()).run(fmt::format("PRAGMA journal_mode = {}", std::get<1>(GetParam())));
  bool failed_once = false;
  for (int n = 1; n < 100; ++n) {
    const auto before = total_now(counter);
    {
      const auto c = connect(false);
      files_.break_at(fault(), n);
      const auto added = add_one(*c, counter);
      files_.mend();
      if (added) {
        EXPECT_TRUE(failed_once);
        EXPECT_EQ(total_now(counter), before + 1);
        EXPECT_LT(files_.seen(), n);
        return;  // every call that there is has failed once
      }
      failed_once = true;
      EXPECT_EQ(added.error().code, fault() == Fault::no_room ? ErrorCode::disk_full : ErrorCode::io_error) << n;
      EXPECT_EQ(c->healthy(), fault() == Fault::no_room) << n;
      if (!added.error().outcome_unknown) {
        EXPECT_EQ(total_now(counter), before) << n;
        EXPECT_EQ(total_after_crash(path(), counter), before) << n;
      }
    }
    // In doubt the same id is sent again, and counts once.
    const auto c = connect(false);
    const auto again = add_one(*c, counter);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(total_now(counter), before + 1) << n;
    Plain(path()).run("DELETE FROM page_views_requests");
  }
  FAIL() << "the add never succeeded";
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Fault, const char*>>& parameter) {
  constexpr std::array<const char*, 3> names{"no_room", "write_error", "sync_error"};
  const auto [fault, mode] = parameter.param;
  return fmt::format("{}_{}", names.at(static_cast<std::size_t>(fault)), mode);
}

INSTANTIATE_TEST_SUITE_P(InEveryJournalMode, Faults,
                         ::testing::Combine(::testing::Values(Fault::no_room, Fault::write_error, Fault::sync_error),
                                            ::testing::Values("wal", "delete")),
                         name_of);

}  // namespace
}  // namespace splitcount::engine::sqlite
