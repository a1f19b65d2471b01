// SQLite without memory at the nth allocation, for every n. A program of its own: SQLite takes its allocator before it
// is started.
#include <atomic>
#include <cstdlib>
#include <future>

#include <sqlite3.h>

#include <contract/contract.h>
#include <faults/numbered.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

sqlite3_mem_methods real_memory;
std::atomic<std::int64_t> allocations_left{0};  // 0: none fails
std::atomic<bool> stays{false};
std::atomic<std::int64_t> failures{0};

bool fails() {
  if (allocations_left == 0) return false;
  if (--allocations_left != 0) return false;
  if (stays) allocations_left = 1;  // the next one fails as well
  ++failures;
  return true;
}

void* allocate(int size) { return fails() ? nullptr : real_memory.xMalloc(size); }
void* reallocate(void* old, int size) { return fails() ? nullptr : real_memory.xRealloc(old, size); }

void take_over_memory() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK) std::abort();
  sqlite3_mem_methods mine = real_memory;
  mine.xMalloc = allocate;
  mine.xRealloc = reallocate;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &mine) != SQLITE_OK) std::abort();
  if (sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK) std::abort();  // every allocation can fail
}

class Memory : public testing::TestWithParam<bool> {
 protected:
  void fail_from(std::int64_t nth) {
    stays = GetParam();
    allocations_left = nth;
  }
  static void heal() {
    stays = false;
    allocations_left = 0;
  }
  static void note(std::int64_t amount, const Error* error, std::int64_t& acknowledged, std::int64_t& unknown) {
    if (error == nullptr) acknowledged += amount;
    if (error != nullptr && error->outcome_unknown) unknown += amount;
  }
  static void add_all(const std::string& dsn, std::int64_t first, std::int64_t& acknowledged, std::int64_t& unknown) {
    auto database = Database::open(dsn).value_or_throw();
    auto counter = database.counter("page_views");
    if (!counter) return;
    const NumberedAdd one(first), two(first + 1), three(first + 2);
    const auto added = counter->add(one.add());
    note(numbered_amount(first), added ? nullptr : &added.error(), acknowledged, unknown);
    const std::vector<Add> adds{two.add(), three.add()};
    const auto many = counter->add(adds);
    note(numbered_amount(first + 1) + numbered_amount(first + 2), many ? nullptr : &many.error(), acknowledged,
         unknown);
    (void)counter->total("key1");
    (void)counter->top(3);
    (void)counter->slots("key1");
    (void)database.list();
    (void)database.status();
  }
};
INSTANTIATE_TEST_SUITE_P(That, Memory, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "StaysAway" : "ComesBack"; });

TEST_P(Memory, GoneAtAnyAllocationLeavesAllOfAnAddOrNothing) {
  const auto stand = make_sqlite_stand();
  auto database = Database::open(stand->dsn()).value_or_throw();
  auto counter =
      database.define("page_views", {.key = "page", .slots = 4, .retries = Retries{true, {}}}).value_or_throw();
  const int stride = scale(11, 1, 1);
  std::int64_t expected = 0;
  std::int64_t first = 0;
  failures = 0;
  std::int64_t nth = 1;
  for (bool fired = true; fired; nth += stride, first += 3) {
    ASSERT_LT(nth, 200'000) << "the scenario has an end";
    std::int64_t acknowledged = 0;
    std::int64_t unknown = 0;
    const auto before = failures.load();
    fail_from(nth);
    add_all(stand->dsn(), first, acknowledged, unknown);
    heal();
    fired = failures != before;
    const auto now = counter.total().value_or_throw().total;
    ASSERT_GE(now, expected + acknowledged) << "allocation " << nth;
    ASSERT_LE(now, expected + acknowledged + unknown) << "allocation " << nth;
    for (auto number = first; number < first + 3; ++number) {
      ASSERT_TRUE(done(counter.add(NumberedAdd(number).add())));
      expected += numbered_amount(number);
    }
    ASSERT_EQ(counter.total().value_or_throw().total, expected) << "allocation " << nth;
  }
  EXPECT_GT(failures, 20) << "the faults were there";
  EXPECT_EQ(stand->damage(), "");
}

TEST_P(Memory, GoneAtAnyAllocationLeavesAllOfADefinitionOrNothing) {
  const auto stand = make_sqlite_stand();
  auto database = Database::open(stand->dsn()).value_or_throw();
  ASSERT_TRUE(done(database.define("first", {.key = "page"})));
  const auto objects = stand->objects();
  const int stride = scale(23, 3, 1);
  failures = 0;
  std::int64_t nth = 1;
  for (bool fired = true; fired; nth += stride) {
    ASSERT_LT(nth, 200'000) << "a definition has an end";
    const auto before = failures.load();
    const std::vector<std::string> keys{"a", "b"};
    fail_from(nth);
    const auto defined = database.define("page_views", {.key = "page", .retries = Retries{true, {}}}, keys);
    heal();
    fired = failures != before;
    if (defined) {
      ASSERT_TRUE(done(database.drop("page_views")));
    } else if (!defined.error().outcome_unknown) {
      ASSERT_TRUE(refused(database.counter("page_views"), ErrorCode::unknown_counter)) << "allocation " << nth;
    } else {
      (void)database.drop("page_views");
    }
    ASSERT_EQ(stand->objects(), objects) << "allocation " << nth;
  }
  EXPECT_GT(failures, 20) << "the faults were there";
  EXPECT_EQ(stand->damage(), "");
}

}  // namespace
}  // namespace splitcount::faults

int main(int argc, char** argv) {
  splitcount::faults::take_over_memory();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
