// --again, and runs that meet each other.
#include <intake/count.h>

#include <chrono>

#include <intake/count_test_support.h>
#include <intake/known_file.h>

namespace splitcount::intake {
namespace {

class CountAgain : public CountTest {};
class TwoRuns : public CountTest {
 protected:
  /// Calls `what` once from within a run, between its look at the file and its first commit.
  static CountOptions meanwhile(std::function<void()> what) {
    CountOptions options;
    options.progress = [what = std::move(what), done = false](const Progress& progress) mutable {
      if (progress.lines_read > 0 && !std::exchange(done, true)) what();
    };
    return options;
  }
};

TEST_F(CountAgain, AddsEverythingOnceMore) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  count(path);
  auto report = count_again(path);
  expect_done(report);
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.lines_read, 100U);
  EXPECT_EQ(report.lines_before, 0U);
  EXPECT_FALSE(report.resumed_again);
  EXPECT_EQ(total(), 200);
  report = count(path);
  EXPECT_EQ(report.lines_read, 0U);
  EXPECT_EQ(report.lines_before, 100U);
  EXPECT_FALSE(report.again_unfinished);
  EXPECT_EQ(streams(), 1U);
  count_again(path);
  EXPECT_EQ(total(), 300);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountAgain, OfAFileThatIsNotKnownCountsItAndMakesItKnown) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  const auto report = count_again(path);
  expect_done(report);
  EXPECT_FALSE(report.known);
  EXPECT_EQ(total(), 100);
  EXPECT_TRUE(count(path).known);
  EXPECT_EQ(total(), 100);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountAgain, GoesOnWhereItWasStopped) {
  const auto path = folder_.write("a.log", log_lines(2'000, 10));
  count(path);
  CountOptions again;
  again.again = true;
  const auto part = count_part(path, again);
  EXPECT_TRUE(part.stopped);
  ASSERT_GT(part.lines_counted, 0U);
  const auto plain = count(path);
  EXPECT_EQ(plain.lines_read, 0U);
  EXPECT_TRUE(plain.again_unfinished);
  const auto rest = count_again(path);
  expect_done(rest);
  EXPECT_TRUE(rest.resumed_again);
  EXPECT_EQ(rest.lines_before, part.lines_counted);
  EXPECT_EQ(total(), 4'000);
  EXPECT_FALSE(count(path).again_unfinished);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountAgain, OfAnUnknownFileGoesOnWhereItWasStopped) {
  const auto path = folder_.write("a.log", log_lines(2'000, 10));
  CountOptions again;
  again.again = true;
  const auto part = count_part(path, again);
  ASSERT_TRUE(part.stopped);
  EXPECT_TRUE(count_again(path).resumed_again);
  EXPECT_EQ(total(), 2'000);
  EXPECT_TRUE(count(path).known);
  EXPECT_EQ(total(), 2'000);
}

TEST_F(CountAgain, TakesInWhatTheFileHasGrownBy) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  count(path);
  folder_.append("a.log", log_lines(50, 10));
  EXPECT_EQ(count_again(path).lines_read, 150U);
  EXPECT_EQ(total(), 250);
  const auto plain = count(path);
  EXPECT_EQ(plain.lines_read, 0U);
  EXPECT_EQ(plain.lines_before, 150U);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountAgain, IsOnlyClosedWhereItWasKilledBeforeItsLastStep) {
  // The state after a crash between the two commits that end a pass: the plain stream stands at the end, and the
  // stream of the pass is still there.
  const auto path = folder_.write("a.log", log_lines(100, 10));
  count(path);
  auto combiner = Combiner::open(database_).value_or_throw();
  const auto plain = list_known(combiner, "hits", Field::target).value_or_throw().at(0);
  const auto stream = stream_name("hits", Field::target, Pass::again, 1);
  ASSERT_TRUE(combiner.apply(counter_, {.stream = stream, .from = 0, .to = plain.position,
                                        .checkpoint = encode(plain.checkpoint), .adds = {}},
                             std::chrono::steady_clock::now() + std::chrono::seconds(10)));
  EXPECT_TRUE(count(path).again_unfinished);
  const auto report = count_again(path);
  expect_done(report);
  EXPECT_TRUE(report.resumed_again);
  EXPECT_EQ(report.lines_read, 0U);
  EXPECT_EQ(total(), 100);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(TwoRuns, OfDifferentFilesThatBeginTogetherBothCount) {
  const auto first = folder_.write("a.log", log_lines(100, 10));
  const auto second = folder_.write("b.log", log_line("/b") + "\n");
  const auto report = count(first, meanwhile([&] { expect_done(count(second)); }), small_bounds());
  expect_done(report);
  EXPECT_EQ(report.lines_counted, 100U);
  EXPECT_EQ(total(), 101);
  EXPECT_EQ(streams(), 2U);
}

TEST_F(TwoRuns, OfTheSameNewFileCountItOnce) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  const auto report = count(path, meanwhile([&] { EXPECT_EQ(count(path).lines_counted, 100U); }), small_bounds());
  expect_done(report);
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.lines_counted, 0U);
  EXPECT_EQ(report.lines_before, 100U);
  EXPECT_EQ(total(), 100);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(TwoRuns, OfTheSameGrownFileCountTheRestOnceAndOneSaysWhy) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  count(path);
  folder_.append("a.log", log_lines(60, 10));
  const auto report = count(path, meanwhile([&] { EXPECT_EQ(count(path).lines_counted, 60U); }), small_bounds());
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::stream_conflict);
  EXPECT_NE(report.error->message.find("another run is counting"), std::string::npos);
  EXPECT_EQ(report.lines_counted, 0U);
  EXPECT_EQ(total(), 160);
  expect_done(count(path));
  EXPECT_EQ(total(), 160);
}

TEST_F(TwoRuns, OfTheSamePassOnceMoreCountEachPassOnce) {
  const auto path = folder_.write("a.log", log_lines(100, 10));
  count(path);
  auto options = meanwhile([&] { expect_done(count_again(path)); });
  options.again = true;
  expect_done(count(path, options, small_bounds()));  // the other began and ended meanwhile: two passes, one after the other
  EXPECT_EQ(total(), 300);
  EXPECT_FALSE(count(path).again_unfinished);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(TwoRuns, FromThreadsAtOnceNeverCountALineTwice) {
  const auto path = folder_.write("a.log", log_lines(4'000, 10));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        const auto report = count(path, {}, small_bounds());
        if (!report.error) break;
        EXPECT_EQ(report.error->code, ErrorCode::stream_conflict) << report.error->message;
        if (report.error->code != ErrorCode::stream_conflict) break;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total(), 4'000);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(TwoRuns, RefuseWhatANewerVersionHasWritten) {
  auto combiner = Combiner::open(database_).value_or_throw();
  ASSERT_TRUE(combiner.apply(counter_, {.stream = "file/hits/target/1", .from = 0, .to = 1, .checkpoint = "\x02new", .adds = {}},
                             std::chrono::steady_clock::now() + std::chrono::seconds(10)));
  const auto report = count(folder_.write("a.log", log_lines(100, 10)));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::schema_too_new);
}

}  // namespace
}  // namespace splitcount::intake
