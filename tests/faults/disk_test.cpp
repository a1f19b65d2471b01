// SQLite on a disk that fails at the nth call, for every n, and on a machine that loses its power at any moment.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <set>
#include <stdexcept>

#include <sqlite3.h>

#include <contract/contract.h>
#include <faults/failing_vfs.h>
#include <faults/numbered.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using namespace contract;

constexpr int pages_between_checkpoints = 8;  // so that a short run meets checkpoints as well

int check_point_often(sqlite3* handle, char**, const sqlite3_api_routines*) {
  return sqlite3_wal_autocheckpoint(handle, pages_between_checkpoints);
}

/// Counters made by define lie in a database with a write-ahead log, those made by hand in one with a rollback journal.
class Disk : public testing::TestWithParam<Edition> {
 protected:
  static void SetUpTestSuite() {
    failing_vfs::install();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(check_point_often));
  }
  static void TearDownTestSuite() { sqlite3_reset_auto_extension(); }

  void fresh() {
    database_.reset();
    stand_ = make_sqlite_stand();
    folder_ = std::filesystem::path(stand_->dsn().substr(sizeof "sqlite:" - 1)).parent_path().string();
    database_ = std::make_unique<Database>(Database::open(stand_->dsn()).value_or_throw());
    ASSERT_TRUE(done(
        make_counter(GetParam(), *stand_, *database_, "page_views", {.key = "page", .retries = Retries{true, {}}})));
    ASSERT_TRUE(ran(stand_->session()->run("CREATE TABLE orders (id integer)")));
    next_ = 0;
  }
  /// What was answered, over all adds so far.
  struct Tally {
    std::int64_t acknowledged = 0;
    std::int64_t unknown = 0;
    void note(std::int64_t amount, const Error* error) {
      if (error == nullptr) acknowledged += amount;
      if (error != nullptr && error->outcome_unknown) unknown += amount;
    }
  };
  /// After the fault: the database is sound, every answer was true, and sending the ids again makes it exact.
  void check(const Tally& tally) {
    failing_vfs::heal();
    EXPECT_EQ(stand_->damage(), "");
    auto reopened = Database::open(stand_->dsn()).value_or_throw();
    auto counter = reopened.counter("page_views").value_or_throw();
    const auto total = counter.total();
    ASSERT_TRUE(done(total));
    EXPECT_GE(total->total, tally.acknowledged);
    EXPECT_LE(total->total, tally.acknowledged + tally.unknown);
    std::int64_t expected = 0;
    for (std::int64_t number = 0; number < next_; ++number) {
      expected += numbered_amount(number);
      ASSERT_TRUE(done(counter.add(NumberedAdd(number).add())));
    }
    EXPECT_EQ(counter.total().value_or_throw().total, expected);
  }

  using Scenario = std::function<void(Disk&, Tally&)>;
  /// Runs the scenario with the nth call failing, for n = 1, 2, ... until it ends without a failure.
  void at_every_call(Failure failure, bool stays, const Scenario& scenario) {
    std::set<FileCall> seen;
    int nth = 1;
    for (bool fired = true; fired; ++nth) {
      ASSERT_LT(nth, 20'000) << "the scenario has an end";
      SCOPED_TRACE("call " + std::to_string(nth));
      failing_vfs::heal();
      ASSERT_NO_FATAL_FAILURE(fresh());
      Tally tally;
      failing_vfs::watch(folder_);
      failing_vfs::fail_at(nth, failure, stays);
      scenario(*this, tally);
      fired = failing_vfs::failures() > 0;
      if (fired) seen.insert(failing_vfs::failed_call());
      check(tally);
      if (HasFailure()) return;
    }
    EXPECT_GE(nth, 10) << "the faults were there";
    EXPECT_TRUE(seen.count(FileCall::write) == 1 && seen.count(FileCall::sync) == 1 && seen.count(FileCall::lock) == 1)
        << "of every important kind";
  }

  std::unique_ptr<Stand> stand_;
  std::unique_ptr<Database> database_;
  std::string folder_;
  std::int64_t next_ = 0;
};

/// A new program: opens the database, adds alone and in calls of many, reads.
void adds_of_its_own(const std::string& dsn, std::int64_t& next,
                     const std::function<void(std::int64_t, const Error*)>& note) {
  auto database = Database::open(dsn).value_or_throw();
  auto counter = database.counter("page_views");
  for (int i = 0; i < 6; ++i) {
    if (!counter) counter = database.counter("page_views");
    const std::int64_t number = next++;
    if (!counter) continue;  // never sent
    const auto added = counter->add(NumberedAdd(number).add());
    note(numbered_amount(number), added ? nullptr : &added.error());
  }
  if (!counter) return;
  std::vector<NumberedAdd> numbered;
  std::vector<Add> adds;
  std::int64_t sum = 0;
  for (int i = 0; i < 20; ++i) sum += numbered_amount(next), numbered.emplace_back(next++);
  for (const auto& one : numbered) adds.push_back(one.add());
  const auto added = counter->add(adds);
  note(sum, added ? nullptr : &added.error());
  (void)counter->total();
}

class DiskOwn : public Disk {
 protected:
  void at_every_call_of_own_adds(Failure failure, bool stays) {
    at_every_call(failure, stays, [this](Disk&, Tally& tally) {
      adds_of_its_own(stand_->dsn(), next_, [&](auto amount, auto* error) { tally.note(amount, error); });
    });
  }
};

TEST_P(DiskOwn, ThatFailsOneCallLeavesAllOrNothingOfAnAdd) { at_every_call_of_own_adds(Failure::io_error, false); }
TEST_P(DiskOwn, ThatFailsFromOneCallOnLeavesAllOrNothingOfAnAdd) { at_every_call_of_own_adds(Failure::io_error, true); }
TEST_P(DiskOwn, ThatIsFullFromOneCallOnLeavesAllOrNothingOfAnAdd) { at_every_call_of_own_adds(Failure::full, true); }
TEST_P(DiskOwn, ThatDoesHalfOfOneCallLeavesAllOrNothingOfAnAdd) { at_every_call_of_own_adds(Failure::half, false); }

class DiskCombined : public Disk {
 protected:
  void at_every_call_of_a_combiner(Failure failure, bool stays) {
    at_every_call(failure, stays, [this](Disk&, Tally& tally) {
      auto database = Database::open(stand_->dsn()).value_or_throw();
      const auto counter = database.counter("page_views");
      next_ = 40;
      if (!counter) return;
      auto combiner = Combiner::open(database);
      if (!combiner) return;
      for (std::int64_t first = 0; first < next_; first += 10) send_ten(*combiner, *counter, first, tally);
    });
  }
  /// Ten adds of which each hears its own answer, by the deadline.
  static void send_ten(Combiner& combiner, const Counter& counter, std::int64_t first, Tally& tally) {
    std::vector<NumberedAdd> numbered;
    std::vector<Add> adds;
    for (std::int64_t number = first; number < first + 10; ++number) numbered.emplace_back(number);
    for (const auto& one : numbered) adds.push_back(one.add());
    auto promise = std::make_shared<std::promise<std::vector<Result<Added>>>>();
    auto answers = promise->get_future();
    const auto taken = combiner.submit(counter, adds, std::chrono::steady_clock::now() + std::chrono::milliseconds(60),
                                       [promise](auto results) {
                                         promise->set_value({results.begin(), results.end()});
                                       });
    if (!taken) return;
    const auto heard = answers.get();
    for (std::size_t i = 0; i < heard.size(); ++i) {
      tally.note(numbered_amount(first + static_cast<std::int64_t>(i)), heard[i] ? nullptr : &heard[i].error());
    }
  }
};

TEST_P(DiskCombined, ThatFailsOneCallAnswersEveryCallerTruly) { at_every_call_of_a_combiner(Failure::io_error, false); }
TEST_P(DiskCombined, ThatDoesHalfOfOneCallAnswersEveryCallerTruly) {
  at_every_call_of_a_combiner(Failure::half, false);
}
TEST_P(DiskCombined, ThatFailsFromOneCallOnAnswersEveryCallerTruly) {
  at_every_call_of_a_combiner(Failure::io_error, true);
}

class DiskOfCaller : public Disk {};

TEST_P(DiskOfCaller, ThatFailsOneCallLeavesTheOwnRowsAndTheCountTogether) {
  at_every_call(Failure::io_error, false, [this](Disk&, Tally& tally) {
    auto counter = database_->counter("page_views");
    if (!counter) return;
    std::unique_ptr<Session> session;
    try {
      session = stand_->session();
    } catch (const std::runtime_error&) {  // it cannot be opened, so nothing was sent
      return;
    }
    for (int i = 0; i < 6; ++i) {
      const auto number = next_++;
      if (!session->begin()) continue;
      const bool inserted = session->run("INSERT INTO orders (id) VALUES (" + std::to_string(number) + ")").has_value();
      const bool added = inserted && counter->add(session->caller(), NumberedAdd(number).add()).has_value();
      const bool committed = added && session->commit().has_value();
      if (!committed && session->in_transaction()) (void)session->rollback();
      Error unknown;
      unknown.outcome_unknown = added;  // the caller's own COMMIT failed: it may have happened
      tally.note(numbered_amount(number), committed ? nullptr : &unknown);
    }
    session.reset();
    failing_vfs::heal();
    const auto orders = stand_->session()->rows("SELECT id FROM orders");
    ASSERT_TRUE(ran(orders));
    std::int64_t sum = 0;
    for (const auto& row : *orders) sum += numbered_amount(std::stoll(row.front()));
    EXPECT_EQ(database_->counter("page_views").value_or_throw().total().value_or_throw().total, sum);
  });
}

class PowerLoss : public Disk {
 protected:
  struct Image {
    std::map<std::string, std::string> files;
    std::int64_t acknowledged = 0;
    std::int64_t sent = 0;
  };
  /// What a disk may hold when the power goes: all that was synced, and any part of what was not, the last torn.
  static std::map<std::string, std::string> what_is_left(const failing_vfs::Recording& recording,
                                                         std::mt19937_64& random) {
    std::map<std::string, std::string> files;
    for (const auto& [name, recorded] : recording) {
      if (recorded.removed && random_between(random, 0, 1) == 0) continue;
      auto& bytes = files[name] = recorded.synced;
      const int mode = random_between(random, 0, 2);  // none of it, all of it, or each by chance
      for (const auto& change : recorded.unsynced) {
        if (mode == 0 || (mode == 2 && random_between(random, 0, 1) == 0)) continue;
        if (change.truncates) {
          bytes.resize(static_cast<std::size_t>(change.offset));
          continue;
        }
        auto written = change.bytes;
        if (mode == 2 && random_between(random, 0, 3) == 0) written.resize(written.size() / 2);
        const auto end = static_cast<std::size_t>(change.offset) + written.size();
        if (bytes.size() < end) bytes.resize(end);
        bytes.replace(static_cast<std::size_t>(change.offset), written.size(), written);
      }
    }
    return files;
  }
  static void check_image(const Image& image) {
    const auto stand = make_sqlite_stand();
    const auto folder = std::filesystem::path(stand->dsn().substr(sizeof "sqlite:" - 1)).parent_path();
    for (const auto& [name, bytes] : image.files) {
      std::ofstream(folder / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    auto database = Database::open(stand->dsn()).value_or_throw();
    auto counter = database.counter("page_views");
    ASSERT_TRUE(done(counter));
    const auto total = counter->total();
    ASSERT_TRUE(done(total));
    EXPECT_GE(total->total, image.acknowledged) << "acknowledged adds are lost";
    EXPECT_LE(total->total, image.sent);
    EXPECT_EQ(stand->damage(), "");
  }
};

TEST_P(PowerLoss, AtAnyMomentLosesNothingAcknowledged) {
  std::mt19937_64 random(seed());
  ASSERT_NO_FATAL_FAILURE(fresh());
  const int rounds = scale(6, 60, 300);
  std::vector<Image> images;
  std::int64_t acknowledged = 0;
  std::int64_t sent = 0;
  database_.reset();
  failing_vfs::watch(folder_);  // files that are opened from now on
  failing_vfs::record([&](const auto& recording) {
    images.push_back({what_is_left(recording, random), acknowledged, sent});
  });
  auto database = Database::open(stand_->dsn()).value_or_throw();
  auto counter = database.counter("page_views").value_or_throw();
  auto combiner = Combiner::open(database).value_or_throw();
  for (int round = 0; round < rounds; ++round) {
    const NumberedAdd numbered(round);
    const auto one = numbered.add();
    sent += one.amount;
    if (round % 2 == 0) {
      ASSERT_TRUE(done(counter.add(one)));
      acknowledged += one.amount;
    } else {
      std::promise<bool> answered;
      ASSERT_TRUE(done(combiner.submit(counter, std::span(&one, 1),
                                       std::chrono::steady_clock::now() + std::chrono::minutes(1), [&](auto results) {
                                         const bool counted = results.front().has_value();
                                         if (counted) acknowledged += one.amount;
                                         answered.set_value(counted);
                                       })));
      ASSERT_TRUE(answered.get_future().get());
    }
  }
  failing_vfs::stop_recording();
  EXPECT_GT(images.size(), static_cast<std::size_t>(rounds)) << "every commit reached the disk";
  for (const auto& image : images) {
    check_image(image);
    if (HasFailure()) return;
  }
}

std::string journal_name(const testing::TestParamInfo<Edition>& tested) {
  return tested.param == Edition::defined ? "write_ahead_log" : "rollback_journal";
}
#define SPLITCOUNT_ON_BOTH_JOURNALS(fixture) \
  INSTANTIATE_TEST_SUITE_P(Sqlite, fixture, testing::Values(Edition::defined, Edition::by_hand), journal_name)
SPLITCOUNT_ON_BOTH_JOURNALS(DiskOwn);
SPLITCOUNT_ON_BOTH_JOURNALS(DiskCombined);
SPLITCOUNT_ON_BOTH_JOURNALS(DiskOfCaller);
SPLITCOUNT_ON_BOTH_JOURNALS(PowerLoss);

}  // namespace
}  // namespace splitcount::faults
