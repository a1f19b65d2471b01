#include <intake/source.h>

#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <intake/test_support.h>

namespace splitcount::intake {
namespace {

using namespace std::chrono_literals;

struct Read {
  std::string bytes;
  std::optional<Error> error;
};

/// Everything from where the source stands, in spans of `step` bytes.
Read read_all(Source& source, std::size_t step = 1000) {
  Read read;
  std::string buffer(step, '\0');
  for (;;) {
    const auto got = source.read(buffer, 10ms);
    if (!got) {
      read.error = got.error();
      return read;
    }
    if (got->ended) return read;
    read.bytes += buffer.substr(0, got->bytes);
  }
}

Read read_file_through(const std::string& path, std::size_t step = 1000) {
  auto source = Source::open(path);
  if (!source) return {{}, source.error()};
  return read_all(*source, step);
}

/// A named pipe whose writer sends `bytes` in small pieces.
class Pipe {
 public:
  Pipe(const std::string& path, std::string bytes) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    writer_ = std::thread([path, bytes = std::move(bytes)] {
      const int fd = ::open(path.c_str(), O_WRONLY);
      for (std::size_t at = 0; at < bytes.size();) {
        const auto written = ::write(fd, bytes.data() + at, std::min<std::size_t>(777, bytes.size() - at));
        if (written <= 0) break;
        at += static_cast<std::size_t>(written);
      }
      ::close(fd);
    });
  }
  ~Pipe() { writer_.join(); }

 private:
  std::thread writer_;
};

TEST(SourceOfAPlainFile, GivesItsBytesAndSeeksBack) {
  const TestFolder folder;
  const auto text = log_lines(100, 7);
  auto source = Source::open(folder.write("a.log", text));
  ASSERT_TRUE(source);
  EXPECT_EQ(read_all(*source).bytes, text);
  ASSERT_TRUE(source->seek(50));
  EXPECT_EQ(source->position(), 50U);
  EXPECT_EQ(read_all(*source, 3).bytes, text.substr(50));
}

TEST(SourceOfAPlainFile, MayHaveAnyFewBytes) {
  const TestFolder folder;
  for (const auto& bytes : {std::string(), std::string("a"), std::string("\x1f"), std::string("abc"), std::string(2, '\0')}) {
    EXPECT_EQ(read_file_through(folder.write("few", bytes), 1).bytes, bytes);
  }
}

TEST(SourceOfAPlainFile, EndsEarlyWhereTheFileIsCutMeanwhile) {
  const TestFolder folder;
  const auto path = folder.write("a.log", std::string(2'000'000, 'x'));
  auto source = Source::open(path);
  std::string buffer(1000, '\0');
  ASSERT_TRUE(source->read(buffer, 0ms));
  std::filesystem::resize_file(path, 500);
  const auto rest = read_all(*source);
  EXPECT_FALSE(rest.error);
  EXPECT_LT(rest.bytes.size(), 1'000'000U);
}

TEST(SourceOfAPlainFile, IsReadToItsEndAfterItsNameIsGone) {
  const TestFolder folder;
  const auto path = folder.write("a.log", "hello\n");
  auto source = Source::open(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read_all(*source).bytes, "hello\n");
}

TEST(SourceOpen, SaysWhatIsWrongWithAPath) {
  const TestFolder folder;
  const auto missing = Source::open(folder.file("none.log"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::file_unreadable);
  EXPECT_EQ(missing.error().message, "there is no file \"" + folder.file("none.log") + "\"");
  const auto directory = Source::open(folder.file(""));
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, ErrorCode::file_unreadable);
  EXPECT_NE(directory.error().message.find("is a directory"), std::string::npos);
  EXPECT_EQ(Source::open("").error().code, ErrorCode::file_unreadable);
  EXPECT_EQ(Source::open(std::string_view("/dev/null\0x", 11)).error().code, ErrorCode::file_unreadable);
  EXPECT_EQ(Source::open(folder.write("a.log", "x") + "/b").error().code, ErrorCode::file_unreadable);
}

TEST(SourceOfGzip, IsToldByItsBytesAndNotByItsName) {
  const TestFolder folder;
  const auto text = log_lines(5'000, 11);
  EXPECT_EQ(read_file_through(folder.write("plain-name", gzipped(text))).bytes, text);
  EXPECT_EQ(read_file_through(folder.write("plain.gz", text)).bytes, text);
}

TEST(SourceOfGzip, ReadsMembersOneAfterTheOtherAndSkipsPadding) {
  const TestFolder folder;
  const auto bytes = gzipped("one\n") + gzipped("") + std::string(300, '\0') + gzipped("two\n") + std::string(512, '\0');
  for (const std::size_t step : {1, 2, 100}) {
    const auto read = read_file_through(folder.write("members.gz", bytes), step);
    EXPECT_FALSE(read.error) << read.error->message;
    EXPECT_EQ(read.bytes, "one\ntwo\n");
  }
}

TEST(SourceOfGzip, SeeksBackByDecompressingAnew) {
  const TestFolder folder;
  const auto text = log_lines(20'000, 100);
  auto source = Source::open(folder.write("a.gz", gzipped(text)));
  EXPECT_EQ(read_all(*source, 100'000).bytes, text);
  ASSERT_TRUE(source->seek(1'234'567));
  EXPECT_EQ(read_all(*source, 100'000).bytes, text.substr(1'234'567));
  ASSERT_TRUE(source->seek(0));
  EXPECT_EQ(read_all(*source, 100'000).bytes, text);
}

TEST(SourceOfGzip, HandsOutWhatCameBeforeTheCutAndThenSaysSo) {
  const TestFolder folder;
  const auto text = log_lines(5'000, 4'000);
  const auto whole = gzipped(text);
  for (const auto size : {whole.size() - 1, whole.size() - 9, whole.size() / 2, std::size_t{15}, std::size_t{2}}) {
    const auto read = read_file_through(folder.write("cut.gz", whole.substr(0, size)));
    ASSERT_TRUE(read.error) << size;
    EXPECT_EQ(read.error->code, ErrorCode::file_unreadable);
    EXPECT_NE(read.error->message.find("ends in the middle"), std::string::npos) << read.error->message;
    EXPECT_TRUE(text.starts_with(read.bytes));
    const bool only_the_trailer_is_cut = size > whole.size() - 10;
    EXPECT_EQ(read.bytes == text, only_the_trailer_is_cut);
  }
}

TEST(SourceOfGzip, SaysWhereItIsDamaged) {
  const TestFolder folder;
  const auto text = log_lines(5'000, 4'000);
  const auto whole = gzipped(text);
  for (const auto at : {std::size_t{2}, std::size_t{11}, whole.size() / 3, whole.size() - 6}) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    const auto read = read_file_through(folder.write("bad.gz", bytes));
    ASSERT_TRUE(read.error) << at;
    EXPECT_EQ(read.error->code, ErrorCode::file_unreadable);
  }
  const auto read = read_file_through(folder.write("garbage.gz", gzipped("good\n") + "garbage"));
  EXPECT_EQ(read.bytes, "good\n");
  ASSERT_TRUE(read.error);
  EXPECT_NE(read.error->message.find("5 bytes that came out before"), std::string::npos) << read.error->message;
}

TEST(SourceOfAPipe, CanBeReadAgainAsFarAsItWasKept) {
  const TestFolder folder;
  const auto text = log_lines(10'000, 9);  // more than the spool holds in memory
  for (const bool compressed : {false, true}) {
    const auto path = folder.file(compressed ? "gz" : "plain");
    const Pipe pipe(path, compressed ? gzipped(text) : text);
    auto source = Source::open(path);
    ASSERT_TRUE(source);
    EXPECT_FALSE(source->reopens());
    source->keep();
    std::string first;
    std::string buffer(10'000, '\0');
    while (first.size() < 300'000) first += buffer.substr(0, source->read(buffer, 1s)->bytes);
    source->stop_keeping();
    ASSERT_TRUE(source->seek(100));
    EXPECT_EQ(read_all(*source).bytes, text.substr(100));
  }
}

TEST(SourceOfAPipe, AnswersWithNothingWhereNothingComes) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("p").c_str(), 0600), 0);
  const Descriptor writer(::open(folder.file("p").c_str(), O_RDWR));
  auto source = Source::open(folder.file("p"));
  std::string buffer(10, '\0');
  auto got = source->read(buffer, 1ms);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, 0U);
  EXPECT_FALSE(got->ended);
  ASSERT_EQ(::write(writer.get(), "x", 1), 1);
  got = source->read(buffer, 1ms);  // one byte does not tell whether it is gzip
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, 0U);
  ASSERT_EQ(::write(writer.get(), "y", 1), 1);
  EXPECT_EQ(source->read(buffer, 1s)->bytes, 2U);
}

TEST(SpoolFile, SaysWhereItCannotWrite) {
  const auto* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nonexistent-folder", 1);
  Spool spool;
  ASSERT_TRUE(spool.append(std::string(Spool::memory_bytes_max, 'x')));
  const auto refused = spool.append("y");
  if (before == nullptr) ::unsetenv("TMPDIR");
  else ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io_error);
  EXPECT_NE(refused.error().message.find("/nonexistent-folder"), std::string::npos);
}

}  // namespace
}  // namespace splitcount::intake
