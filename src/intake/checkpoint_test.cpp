#include <intake/checkpoint.h>

#include <gtest/gtest.h>

#include <base/limits.h>

namespace splitcount::intake {
namespace {

Checkpoint sample() {
  Checkpoint checkpoint;
  checkpoint.run = 0x0123456789abcdefU;
  checkpoint.lines_read = 1ULL << 40U;
  checkpoint.head_bytes = 4096;
  checkpoint.head = Sha256::of("head");
  checkpoint.digest = Sha256::of("all");
  checkpoint.name = "access.log";
  return checkpoint;
}

TEST(CheckpointBytes, AreReadAsTheyWereWritten) {
  const auto checkpoint = sample();
  const auto read = decode(encode(checkpoint));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->run, checkpoint.run);
  EXPECT_EQ(read->lines_read, checkpoint.lines_read);
  EXPECT_EQ(read->head_bytes, checkpoint.head_bytes);
  EXPECT_EQ(read->head, checkpoint.head);
  EXPECT_EQ(read->digest, checkpoint.digest);
  EXPECT_EQ(read->name, checkpoint.name);
}

TEST(CheckpointBytes, StayWithinTheLimitForAnyName) {
  auto checkpoint = sample();
  checkpoint.name = std::string(5'000, 'x');
  const auto bytes = encode(checkpoint);
  EXPECT_LE(bytes.size(), limits::checkpoint_bytes_max);
  EXPECT_EQ(decode(bytes)->name, std::string(255, 'x'));
}

TEST(CheckpointBytes, OfAnotherVersionOrLengthAreRefused) {
  const auto bytes = encode(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode(bytes + "x"));
  auto newer = bytes;
  newer[0] = 2;
  EXPECT_FALSE(decode(newer));
}

TEST(CheckpointBytes, LieInTheOrderThatIsStored) {
  const auto bytes = encode(sample());
  EXPECT_EQ(bytes.substr(0, 9), "\x01\xef\xcd\xab\x89\x67\x45\x23\x01");
  EXPECT_EQ(bytes.substr(17, 2), std::string("\x00\x10", 2));
  EXPECT_EQ(bytes.substr(83), "\x0a" "access.log");
}

TEST(Sha256State, GivesThePublishedDigestAndGoesOn) {
  // FIPS 180-2, appendix B.1: "abc"
  const Digest expected{0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                        0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
  Sha256 state;
  state.update("ab");
  auto copy = state;
  EXPECT_EQ(state.digest(), Sha256::of("ab"));
  state.update("c");
  EXPECT_EQ(state.digest(), expected);
  copy.update("d");
  EXPECT_EQ(copy.digest(), Sha256::of("abd"));
}

}  // namespace
}  // namespace splitcount::intake
