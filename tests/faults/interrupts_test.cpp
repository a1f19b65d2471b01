// Adds that are interrupted at the nth step of SQLite's own program, for every n: an error in the middle of a
// statement, between claiming an id and counting it, between two rows of a call.
#include <atomic>
#include <future>

#include <sqlite3.h>

#include <contract/contract.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

std::atomic<std::int64_t> steps_left{0};  // 0: nothing is interrupted
std::atomic<std::int64_t> interrupts{0};

int step(void*) {
  if (steps_left == 0 || --steps_left != 0) return 0;
  ++interrupts;
  return 1;
}

int watch_steps(sqlite3* handle, char**, const sqlite3_api_routines*) {
  sqlite3_progress_handler(handle, 1, step, nullptr);
  return SQLITE_OK;
}

class Interrupts : public testing::TestWithParam<DoorKind> {
 protected:
  static void SetUpTestSuite() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch_steps)); }
  static void TearDownTestSuite() { sqlite3_reset_auto_extension(); }
};
INSTANTIATE_TEST_SUITE_P(Door, Interrupts, testing::Values(DoorKind::own, DoorKind::caller, DoorKind::combined),
                         [](const auto& tested) { return door_name(tested.param); });

TEST_P(Interrupts, AtAnyStepLeaveAllOfAnAddOrNothing) {
  const auto stand = make_sqlite_stand();
  auto database = Database::open(stand->dsn()).value_or_throw();
  auto counter =
      database.define("page_views", {.key = "page", .slots = 4, .pick = Pick::random, .retries = Retries{true, {}}})
          .value_or_throw();
  const auto door = open_door(GetParam(), *stand, database);
  const int stride = scale(7, 1, 1);
  std::int64_t expected = 0;
  interrupts = 0;
  std::int64_t nth = 1;
  for (bool fired = true; fired; nth += stride) {
    ASSERT_LT(nth, 200'000) << "an add has an end";
    const std::string id = std::to_string(nth);
    const std::string second = id + "b";
    const std::string third = id + "c";
    const std::string key = "k" + std::to_string(nth % 40);  // some are new, some are there
    const std::vector<Add> adds{
        {.key = key, .request_id = id}, {.key = "k", .request_id = second}, {.key = "k", .request_id = third}};
    const auto before = interrupts.load();
    steps_left = nth;
    const auto answers = door->add_many(counter, adds);
    steps_left = 0;
    fired = interrupts != before;
    std::int64_t acknowledged = 0;
    std::int64_t unknown = 0;
    for (const auto& answer : answers) {
      acknowledged += answer ? 1 : 0;
      unknown += !answer && answer.error().outcome_unknown ? 1 : 0;
    }
    const auto now = counter.total().value_or_throw().total;
    ASSERT_GE(now, expected + acknowledged) << "step " << nth;
    ASSERT_LE(now, expected + acknowledged + unknown) << "step " << nth;
    for (const auto& add : adds) ASSERT_TRUE(done(counter.add(add)));
    expected += 3;
    ASSERT_EQ(counter.total().value_or_throw().total, expected) << "step " << nth;
  }
  EXPECT_GT(interrupts, 20) << "the faults were there";
  EXPECT_EQ(stand->damage(), "");
}

class InterruptedCaller : public testing::Test {
 protected:
  static void SetUpTestSuite() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch_steps)); }
  static void TearDownTestSuite() { sqlite3_reset_auto_extension(); }
};

TEST_F(InterruptedCaller, IsToldWhetherTheTransactionIsDeadAndWhatWasCounted) {
  const auto stand = make_sqlite_stand();
  auto database = Database::open(stand->dsn()).value_or_throw();
  auto counter =
      database.define("page_views", {.key = "page", .slots = 4, .retries = Retries{true, {}}}).value_or_throw();
  auto session = stand->session();
  ASSERT_TRUE(ran(session->run("CREATE TABLE orders (id integer)")));
  const int stride = scale(7, 1, 1);
  std::int64_t counted = 0;
  std::int64_t orders = 0;
  interrupts = 0;
  std::int64_t nth = 1;
  for (bool fired = true; fired; nth += stride) {
    ASSERT_LT(nth, 200'000) << "an add has an end";
    const std::string id = std::to_string(nth);
    const std::string key = nth % 2 == 0 ? "new0" : "new1";
    const std::vector<Add> adds{{.key = key, .request_id = id}, {.key = "k"}};
    ASSERT_TRUE(ran(session->begin()));
    ASSERT_TRUE(ran(session->run("INSERT INTO orders (id) VALUES (1)")));
    const auto before = interrupts.load();
    steps_left = nth;
    const auto added = counter.add(session->caller(), adds);
    steps_left = 0;
    fired = interrupts != before;
    if (!added && !session->in_transaction()) {
      ASSERT_TRUE(added.error().transaction_dead) << "step " << nth << ": it has gone and nobody says so";
    } else if (!added && added.error().transaction_dead) {
      ASSERT_TRUE(ran(session->rollback()));
    } else {
      ASSERT_TRUE(ran(session->commit())) << "step " << nth;
      ++orders;
      counted += added ? 2 : 0;
    }
    ASSERT_EQ(counter.total().value_or_throw().total, counted) << "step " << nth;
    ASSERT_EQ(*session->rows("SELECT count(*) FROM orders"), (Rows{{std::to_string(orders)}})) << "step " << nth;
  }
  EXPECT_GT(interrupts, 20) << "the faults were there";
}

}  // namespace
}  // namespace splitcount::faults
