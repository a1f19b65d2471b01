#include <intake/count.h>

#include <limits>

#include <fcntl.h>
#include <sys/stat.h>

#include <intake/count_test_support.h>
#include <intake/known_file.h>

namespace splitcount::intake {
namespace {

class CountFile : public CountTest {};

TEST_F(CountFile, CountsTheExampleLogExactly) {
  const auto report = count(example_log());
  expect_done(report);
  EXPECT_EQ(report.lines_read, 10'000U);
  EXPECT_EQ(report.lines_counted, 10'000U);
  EXPECT_TRUE(report.rejects.empty());
  EXPECT_FALSE(report.known);
  EXPECT_EQ(report.bytes_unfinished, 0U);
  EXPECT_EQ(total(), 10'000);
  EXPECT_EQ(counter_.keys().value_or_throw(), 1'498);
  EXPECT_EQ(total("/favicon.ico"), 807);
}

TEST_F(CountFile, ComesToTheSameWithAnyBounds) {
  for (const std::size_t chunk_bytes : {500U, 5'000U, 1'000'000U}) {
    for (const std::size_t keys : {1U, 100U, 100'000U}) {
      auto bounds = small_bounds();
      bounds.chunk_bytes = chunk_bytes * 10;
      bounds.group_keys_max = keys;
      bounds.group_bytes = keys == 1 ? 1'000'000 : 20'000;
      if (keys == 1 && chunk_bytes > 500) continue;  // a commit for nearly every line
      const auto path = folder_.write("part.log", log_lines(300, 40));
      const auto before = total();
      CountOptions options;
      options.again = before > 0;
      options.parsers = static_cast<int>(keys % 7) + 1;
      const auto report = count(path, options, bounds);
      expect_done(report);
      EXPECT_EQ(total(), before + 300);
      EXPECT_EQ(total("/39") % 7, 0);
    }
  }
}

TEST_F(CountFile, CountsNothingOfAFileThatIsKnown) {
  count(example_log());
  const auto report = count(example_log());
  expect_done(report);
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.known_as, example_log());
  EXPECT_EQ(report.lines_read, 0U);
  EXPECT_EQ(report.lines_before, 10'000U);
  EXPECT_EQ(report.bytes_before, 2'334'331U);
  EXPECT_EQ(total(), 10'000);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountFile, CountsWhatAKnownFileHasGrownBy) {
  const auto path = folder_.write("a.log", log_lines(50, 10));
  count(path);
  folder_.append("a.log", log_lines(30, 30));
  const auto report = count(path);
  expect_done(report);
  EXPECT_TRUE(report.known);
  EXPECT_EQ(report.lines_before, 50U);
  EXPECT_EQ(report.lines_read, 30U);
  EXPECT_EQ(total(), 80);
  EXPECT_EQ(total("/9"), 6);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountFile, LeavesAnUnfinishedLastLineForTheNextRun) {
  const auto path = folder_.write("a.log", log_lines(2, 2) + log_line("/2").substr(0, 60));
  auto report = count(path);
  expect_done(report);
  EXPECT_EQ(report.lines_read, 2U);
  EXPECT_EQ(report.bytes_unfinished, 60U);
  folder_.append("a.log", log_line("/2").substr(60) + "\n");
  report = count(path);
  EXPECT_EQ(report.lines_read, 1U);
  EXPECT_EQ(report.bytes_unfinished, 0U);
  EXPECT_EQ(total("/2"), 1);
  report = count(folder_.write("b.gz", gzipped("unfinished")));
  expect_done(report);
  EXPECT_EQ(report.bytes_unfinished, 10U);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountFile, KnowsARenamedAndAGzippedCopy) {
  const auto text = log_lines(3'000, 17);
  count(folder_.write("access.log", text));
  for (const auto& path : {folder_.write("access.log.1", text), folder_.write("access.log.2.gz", gzipped(text))}) {
    const auto report = count(path);
    expect_done(report);
    EXPECT_TRUE(report.known);
    EXPECT_EQ(report.lines_read, 0U);
    EXPECT_EQ(report.lines_before, 3'000U);
  }
  const auto grown = count(folder_.write("grown.gz", gzipped(text) + gzipped(log_lines(10, 10))));
  EXPECT_EQ(grown.lines_read, 10U);
  EXPECT_EQ(total(), 3'010);
  EXPECT_EQ(count(folder_.write("plain-again", text + log_lines(10, 10))).known_as, folder_.file("grown.gz"));
}

TEST_F(CountFile, TellsFilesApartThatDifferBehindTheirHead) {
  const auto head = log_lines(500, 3);
  count(folder_.write("a.log", head + log_line("/a") + "\n"));
  const auto report = count(folder_.write("b.log", head + log_line("/b") + "\n"));
  EXPECT_FALSE(report.known);
  EXPECT_EQ(total(), 1'002);
  EXPECT_EQ(streams(), 2U);
  EXPECT_TRUE(count(folder_.file("a.log")).known);
  EXPECT_TRUE(count(folder_.file("b.log")).known);
  EXPECT_EQ(total(), 1'002);
}

TEST_F(CountFile, GoesOnWithTheKnownFileThatReachesFurthest) {
  const auto path = folder_.write("a.log", log_lines(1, 1));
  count(path);                                              // one line, as many files begin
  count(folder_.write("b.log", log_lines(1, 1) + log_lines(40, 5)));  // the same file, grown
  count(folder_.write("c.log", log_line("/0") + "\n" + log_line("/other") + "\n"));
  const auto report = count(folder_.write("d.log", log_lines(1, 1) + log_lines(40, 5) + log_line("/new") + "\n"));
  EXPECT_EQ(report.lines_read, 1U);
  EXPECT_EQ(report.lines_before, 41U);
}

TEST_F(CountFile, KnowsAFilePerCounterAndField) {
  const auto path = folder_.write("a.log", log_lines(20, 4));
  count(path);
  CountOptions hosts;
  hosts.field = Field::host;
  EXPECT_EQ(count(path, hosts).lines_counted, 20U);
  EXPECT_EQ(total("10.0.0.1"), 20);
  counter_ = database_.define("other", with_key()).value_or_throw();
  EXPECT_EQ(count(path).lines_counted, 20U);
  EXPECT_EQ(streams(), 3U);
}

TEST_F(CountFile, CountsAFileAnewAfterItsCounterWasDropped) {
  const auto path = folder_.write("a.log", log_lines(20, 4));
  count(path);
  ASSERT_TRUE(database_.drop("hits"));
  counter_ = database_.define("hits", with_key()).value_or_throw();
  EXPECT_EQ(count(path).lines_counted, 20U);
  EXPECT_EQ(total(), 20);
}

TEST_F(CountFile, TalliesRejectsByReasonAndCountsTheRest) {
  const auto path = folder_.write("a.log", log_line("/good") + "\r\n\nno request here\n" + log_line("/" + std::string(800, 'x')) +
                                               "\n" + log_line("/\xff\xfe") + "\n" + std::string(2'000'000, 'y') + "\n" +
                                               "h - - [t] \"-\" 408 0\n" + log_line("/good") + "\n");
  const auto report = count(path);
  expect_done(report);
  EXPECT_EQ(report.lines_read, 8U);
  EXPECT_EQ(report.lines_counted, 2U);
  const std::map<std::string, std::uint64_t> expected{{"empty line", 1},         {"no request", 1},
                                                      {"key longer than 768 bytes", 1}, {"key is not UTF-8", 1},
                                                      {"line longer than 1 MiB", 1},    {"no target in the request", 1}};
  EXPECT_EQ(report.rejects, expected);
  EXPECT_EQ(total("/good"), 2);
  EXPECT_EQ(count(path).lines_before, 8U);
}

TEST_F(CountFile, CountsMoreKeysThanACommitMayHave) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) text += std::to_string(i) + "\n";
  CountOptions options;
  options.field = Field::line;
  const auto report = count(folder_.write("a.log", text + text), options);
  expect_done(report);
  EXPECT_EQ(report.lines_counted, 140'000U);
  EXPECT_EQ(counter_.keys().value_or_throw(), 70'000);
  EXPECT_EQ(total("69999"), 2);
}

TEST_F(CountFile, KnowsAFileOfNothingButRejects) {
  const auto path = folder_.write("a.log", "one\ntwo\n");
  EXPECT_EQ(count(path).rejects.at("no request"), 2U);
  EXPECT_TRUE(count(path).known);
}

TEST_F(CountFile, AnEmptyFileIsNothingAtAll) {
  const auto report = count(folder_.write("empty.log", ""));
  expect_done(report);
  EXPECT_FALSE(report.known);
  EXPECT_EQ(report.lines_read, 0U);
  EXPECT_EQ(streams(), 0U);
}

TEST_F(CountFile, WritesEachRejectedLineWithItsNumberAndReason) {
  CountOptions options;
  options.rejects_path = folder_.file("rejects.txt");
  const auto path = folder_.write("a.log", log_line("/a") + "\nbad\tline\x1b[31m\n" + std::string(1'100'000, 'z') + "\n");
  count(path, options);
  folder_.append("a.log", log_line("/b") + "\n\n");
  count(path, options);
  const auto name = "\"" + path + "\"\t";
  EXPECT_EQ(read_file(options.rejects_path), name + "2\tno request\t\"bad\\x09line\\x1B[31m\"\n" + name +
                                                 "3\tline longer than 1 MiB\t\"" + std::string(4'096, 'z') + "...\"\n" + name +
                                                 "5\tempty line\t\"\"\n");
}

TEST_F(CountFile, RefusesARejectsFileThatCannotBeWrittenOrIsTheLogItself) {
  const auto path = folder_.write("a.log", log_lines(3, 3));
  CountOptions options;
  options.rejects_path = folder_.file("missing/rejects.txt");
  EXPECT_EQ(count(path, options).error->code, ErrorCode::file_unreadable);
  options.rejects_path = path;
  EXPECT_EQ(count(path, options).error->code, ErrorCode::invalid_argument);
  EXPECT_EQ(total(), 0);
}

TEST_F(CountFile, StopsAtTheFirstFullDiskOfTheRejectsFileWithoutCountingOn) {
  CountOptions options;
  options.rejects_path = "/dev/full";
  const auto report = count(folder_.write("a.log", "bad\n" + log_lines(3, 3)), options);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::disk_full);
  EXPECT_EQ(report.lines_counted, 0U);
  EXPECT_EQ(total(), 0);
}

TEST_F(CountFile, SaysThatAFileIsNotThere) {
  const auto report = count(folder_.file("none.log"));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::file_unreadable);
}

TEST_F(CountFile, RefusesAFieldThatTheFormatDoesNotHave) {
  const auto path = folder_.write("a.log", log_lines(3, 3));
  CountOptions options;
  options.format = Format::lines;
  EXPECT_EQ(count(path, options).error->code, ErrorCode::invalid_argument);
  options.format = Format::common;
  options.field = Field::agent;
  EXPECT_EQ(count(path, options).error->message, "the format common has no agent; combined has");
  options.format = Format::lines;
  options.field = Field::line;
  EXPECT_EQ(count(path, options).lines_counted, 3U);
}

TEST_F(CountFile, CountsWhatCameOutOfADamagedGzipAndItsRestOnceItIsWhole) {
  const auto text = log_lines(4'000, 3'000);
  const auto whole = gzipped(text);
  const auto damaged = count(folder_.write("cut.gz", whole.substr(0, whole.size() / 2)));
  ASSERT_TRUE(damaged.error);
  EXPECT_EQ(damaged.error->code, ErrorCode::file_unreadable);
  EXPECT_GT(damaged.lines_counted, 100U);
  EXPECT_EQ(total(), static_cast<std::int64_t>(damaged.lines_counted));
  EXPECT_EQ(count(folder_.file("cut.gz")).lines_counted, 0U);
  const auto report = count(folder_.write("whole.gz", whole));
  expect_done(report);
  EXPECT_EQ(report.lines_before, damaged.lines_counted);
  EXPECT_EQ(total(), 4'000);
}

TEST_F(CountFile, ReadsAPipeAndKnowsItAgain) {
  const auto text = log_lines(5'000, 31);
  for (const auto& bytes : {text, gzipped(text), text + log_line("/more") + "\n"}) {
    const auto path = folder_.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream(path, std::ios::binary) << bytes;
    });
    const auto report = count(path, {}, small_bounds());
    writer.join();
    expect_done(report);
    std::filesystem::remove(path);
  }
  EXPECT_EQ(total(), 5'001);
  EXPECT_EQ(total("/more"), 1);
  EXPECT_EQ(streams(), 1U);
}

TEST_F(CountFile, CommitsWhatASlowPipeHasSentBeforeItsEnd) {
  const auto path = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Descriptor writer(::open(path.c_str(), O_RDWR));
  const auto lines = log_lines(3, 3);
  ASSERT_EQ(::write(writer.get(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  std::atomic<bool> stop{false};
  CountOptions options;
  options.stop = &stop;
  options.progress = [&](const Progress&) { stop = total() == 3; };  // the pipe never ends by itself
  const auto report = count(path, options);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.lines_counted, 3U);
}

TEST_F(CountFile, StopsBetweenGroupsAndGoesOnLater) {
  const auto path = folder_.write("a.log", log_lines(2'000, 10));
  const auto part = count_part(path);
  EXPECT_TRUE(part.stopped);
  EXPECT_FALSE(part.error);
  EXPECT_GT(part.lines_counted, 0U);
  EXPECT_LT(part.lines_counted, 2'000U);
  EXPECT_EQ(total(), static_cast<std::int64_t>(part.lines_counted));
  const auto rest = count(path);
  expect_done(rest);
  EXPECT_EQ(rest.lines_before, part.lines_read);
  EXPECT_EQ(total(), 2'000);
}

TEST_F(CountFile, CountsAFileThatIsCutWhileItIsReadAsFarAsItGoes) {
  const auto path = folder_.write("a.log", log_lines(20'000, 10));
  auto bounds = small_bounds();
  bounds.chunks_max = 2;
  CountOptions options;
  bool cut = false;
  options.progress = [&](const Progress&) {
    if (!std::exchange(cut, true)) std::filesystem::resize_file(path, 100);
  };
  const auto report = count(path, options, bounds);
  expect_done(report);
  EXPECT_GT(report.lines_counted, 0U);
  EXPECT_LT(report.lines_counted, 20'000U);
  EXPECT_EQ(total(), static_cast<std::int64_t>(report.lines_counted));
}

TEST_F(CountFile, ProgressEndsWithTheWholeFile) {
  const auto path = folder_.write("a.log", log_lines(2'000, 10));
  Progress last;
  CountOptions options;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.bytes_done, last.bytes_done);
    last = progress;
  };
  count(path, options, small_bounds());
  EXPECT_EQ(last.lines_read, 2'000U);
  EXPECT_EQ(last.bytes_total, std::filesystem::file_size(path));
  EXPECT_EQ(last.bytes_done, last.bytes_total);
}

TEST_F(CountFile, RefusesACounterWithoutKeyAndOneThatPicksByValue) {
  const auto path = folder_.write("a.log", log_lines(3, 3));
  counter_ = database_.define("single", {}).value_or_throw();
  auto report = count(path);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::key_invalid);
  EXPECT_NE(report.error->message.find("splitcount define NAME --key target"), std::string::npos);
  auto options = with_key();
  options.slots = 11;
  options.pick = Pick::value;
  counter_ = database_.define("by_value", options).value_or_throw();
  report = count(path);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::value_invalid);
}

TEST_F(CountFile, RejectsLinesWhoseKeyIsNotDefined) {
  auto rule = with_key();
  rule.missing = Missing::error;
  const std::string defined = "/1";
  counter_ = database_.define("strict", rule, std::span(&defined, 1)).value_or_throw();
  CountOptions options;
  options.rejects_path = folder_.file("rejects.txt");
  const auto report = count(folder_.write("a.log", log_lines(30, 3)), options);
  expect_done(report);
  EXPECT_EQ(report.lines_counted, 10U);
  EXPECT_EQ(report.rejects.at("key is not defined"), 20U);
  EXPECT_EQ(total("/1"), 10);
  EXPECT_NE(read_file(options.rejects_path).find("\t10 lines\tkey is not defined\t\"/2\"\n"), std::string::npos);
}

TEST_F(CountFile, RejectsLinesThatWouldLeaveSixtyFourBits) {
  ASSERT_TRUE(counter_.add({.key = "/1", .amount = std::numeric_limits<std::int64_t>::max() - 5}));
  const auto report = count(folder_.write("a.log", log_lines(30, 3)));
  expect_done(report);
  EXPECT_EQ(report.lines_counted, 20U);
  EXPECT_EQ(report.rejects.at("count would leave 64 bits"), 10U);
  EXPECT_EQ(total("/1"), std::numeric_limits<std::int64_t>::max() - 5);
  EXPECT_EQ(total("/2"), 10);
}

TEST_F(CountFile, SaysThatTheCounterIsGone) {
  ASSERT_TRUE(database_.drop("hits"));
  const auto report = count(folder_.write("a.log", log_lines(30, 3)));
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.lines_counted, 0U);
}

}  // namespace
}  // namespace splitcount::intake
