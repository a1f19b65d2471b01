#include <intake/chunk_reader.h>

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <intake/tally.h>
#include <intake/test_support.h>

namespace splitcount::intake {
namespace {

/// What a file comes to, however it is cut.
struct Outcome {
  std::map<std::string, std::uint64_t> keys;
  ReasonTally rejects{};
  std::uint64_t lines = 0;
  std::int64_t to = 0;
  std::uint64_t unfinished = 0;
  bool operator==(const Outcome&) const = default;
};

/// Reads and tallies a file, and checks on the way that positions and digests belong together.
Outcome outcome_of(const std::string& path, std::string_view bytes, Field field, const Bounds& bounds) {
  auto source = Source::open(path).value_or_throw();
  const std::atomic<bool> cancel{false};
  ChunkReader reader(source, Sha256(), {}, bounds, cancel);
  Tally tally(field, bounds);
  Chunk chunk;
  chunk.buffer = std::make_unique_for_overwrite<char[]>(ChunkReader::buffer_bytes(bounds));
  Outcome outcome;
  std::string head;
  while (reader.next(chunk).value_or_throw()) {
    if (!chunk.head.empty()) head = chunk.head;
    tally.run(chunk);
    for (const auto& piece : chunk.pieces) {
      EXPECT_GT(piece.to, outcome.to);
      outcome.to = piece.to;
      EXPECT_EQ(piece.digest, Sha256::of(bytes.substr(0, static_cast<std::size_t>(piece.to))));
      EXPECT_LE(piece.keys.size(), bounds.group_keys_max);
      std::size_t key_bytes = 0;
      for (const auto& entry : piece.keys) {
        outcome.keys[std::string(entry.key)] += entry.count;
        key_bytes += entry.key.size();
      }
      EXPECT_EQ(piece.key_bytes, key_bytes);
      outcome.lines += piece.lines;
      for (std::size_t i = 0; i < reasons_count; ++i) outcome.rejects[i] += piece.rejects[i];
    }
    EXPECT_EQ(outcome.to, chunk.to);
    EXPECT_EQ(head.substr(0, static_cast<std::size_t>(chunk.to)), bytes.substr(0, std::min<std::size_t>(chunk.to, head_bytes_max)));
  }
  outcome.unfinished = reader.unfinished();
  EXPECT_EQ(static_cast<std::uint64_t>(outcome.to) + outcome.unfinished, bytes.size());
  return outcome;
}

Bounds small(std::size_t chunk_bytes, std::size_t line_bytes_max = 12) {
  Bounds bounds;
  bounds.chunk_bytes = chunk_bytes;
  bounds.line_bytes_max = line_bytes_max;
  return bounds;
}

/// The same by the plainest means.
Outcome expected_of(std::string_view bytes, std::size_t line_bytes_max) {
  Outcome expected;
  for (std::size_t start = 0; start < bytes.size();) {
    const auto end = bytes.find('\n', start);
    if (end == std::string_view::npos) {
      expected.unfinished = bytes.size() - start;
      break;
    }
    std::string line(bytes.substr(start, end - start));
    if (line.ends_with('\r')) line.pop_back();
    ++expected.lines;
    if (line.size() > line_bytes_max) ++expected.rejects[index_of(Reason::line_too_long)];
    else if (line.empty()) ++expected.rejects[index_of(Reason::key_empty)];
    else ++expected.keys[line];
    start = end + 1;
    expected.to = static_cast<std::int64_t>(start);
  }
  return expected;
}

TEST(ChunkReader, CutsTheSameLinesWithEveryChunkSize) {
  const TestFolder folder;
  const std::string bytes = "a\nbb\r\n\nexactly12byt\nexactly12byt\r\nthirteen-byte\nthirteen-byte\r\na line much longer than twelve bytes\n"
                            "a\n\r\nanother far too long one, and then\nlast without end";
  const auto path = folder.write("a.log", bytes);
  const auto expected = expected_of(bytes, 12);
  EXPECT_EQ(expected.rejects[index_of(Reason::line_too_long)], 4U);
  for (std::size_t size = 1; size <= bytes.size() + 1; ++size) {
    EXPECT_EQ(outcome_of(path, bytes, Field::line, small(size)), expected) << size;
  }
}

RC_GTEST_PROP(ChunkReader, CutsAnyBytesTheSameWithAnyChunkSize, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\r\n\n")));
  const auto chunk_bytes = *rc::gen::inRange<std::size_t>(1, 40);
  const auto line_bytes_max = *rc::gen::inRange<std::size_t>(1, 12);
  const TestFolder folder;
  const auto path = folder.write("a.log", bytes);
  RC_ASSERT(outcome_of(path, bytes, Field::line, small(chunk_bytes, line_bytes_max)) == expected_of(bytes, line_bytes_max));
}

TEST(ChunkReader, SplitsAChunkWithMoreKeysThanACommitMayHave) {
  const TestFolder folder;
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) bytes += std::to_string(i % 300) + "\n";
  const auto path = folder.write("a.log", bytes);
  auto bounds = small(10'000);
  bounds.group_keys_max = 7;
  EXPECT_EQ(outcome_of(path, bytes, Field::line, bounds), expected_of(bytes, 12));
}

TEST(ChunkReader, KeepsDecodedPathsApartFromTheirLines) {
  const TestFolder folder;
  std::string bytes;
  for (int i = 0; i < 500; ++i) bytes += log_line("/%7Euser/" + std::to_string(i % 50) + "?q=" + std::to_string(i)) + "\n";
  const auto path = folder.write("a.log", bytes);
  const auto outcome = outcome_of(path, bytes, Field::path, Bounds{});
  ASSERT_EQ(outcome.keys.size(), 50U);
  EXPECT_EQ(outcome.keys.at("/~user/49"), 10U);
}

TEST(ChunkReader, ReadsPastALineOfTenMegabytes) {
  const TestFolder folder;
  const auto bytes = log_line("/before") + "\n" + std::string(10'000'000, 'x') + "\n" + log_line("/after") + "\n";
  const auto path = folder.write("a.log", bytes);
  const auto outcome = outcome_of(path, bytes, Field::target, Bounds{});
  EXPECT_EQ(outcome.lines, 3U);
  EXPECT_EQ(outcome.rejects[index_of(Reason::line_too_long)], 1U);
  EXPECT_EQ(outcome.keys.size(), 2U);
}

TEST(ChunkReader, LeavesAFileWithoutAnyNewlineForTheNextRun) {
  const TestFolder folder;
  const std::string bytes(30'000'000, 'x');
  const auto outcome = outcome_of(folder.write("a.log", bytes), bytes, Field::line, Bounds{});
  EXPECT_EQ(outcome.lines, 0U);
  EXPECT_EQ(outcome.unfinished, bytes.size());
}

TEST(ChunkReader, CountsWhatItCanOfBinaryData) {
  const TestFolder folder;
  std::string bytes;
  std::uint32_t random = 12'345;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>((random = random * 1'664'525U + 1'013'904'223U) >> 24U);
  const auto path = folder.write("binary", "x" + bytes);
  for (const auto field : {Field::target, Field::path, Field::host, Field::agent, Field::line}) {
    const auto outcome = outcome_of(path, "x" + bytes, field, Bounds{});
    std::uint64_t told = 0;
    for (const auto count : outcome.rejects) told += count;
    for (const auto& [key, count] : outcome.keys) told += count;
    EXPECT_EQ(told, outcome.lines);
    EXPECT_GT(outcome.lines, 1'000U);
  }
}

TEST(ChunkReader, SaysAfterTheLastWholeLineThatTheFileIsDamaged) {
  const TestFolder folder;
  const auto text = log_lines(5'000, 4'000);
  const auto whole = gzipped(text);
  auto source = Source::open(folder.write("cut.gz", whole.substr(0, whole.size() / 2)));
  const std::atomic<bool> cancel{false};
  ChunkReader reader(*source, Sha256(), {}, Bounds{}, cancel);
  Chunk chunk;
  chunk.buffer = std::make_unique_for_overwrite<char[]>(ChunkReader::buffer_bytes(Bounds{}));
  auto more = reader.next(chunk);
  ASSERT_TRUE(more && *more);
  EXPECT_TRUE(text.starts_with(chunk.lines()));
  more = reader.next(chunk);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::file_unreadable);
}

}  // namespace
}  // namespace splitcount::intake
