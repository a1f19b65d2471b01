#include <intake/pass.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/text.h>
#include <intake/chunk.h>

namespace splitcount::intake {
namespace {

constexpr std::chrono::milliseconds commit_wait_ms_max{60'000};  // others may hold the database that long
constexpr int tries_max = 20;  // of other runs that began a file between our look and our commit

std::uint64_t draw_run() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

bool contains(const std::vector<KnownFile>& files, const KnownFile& wanted) {
  return std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.stream == wanted.stream; });
}

}  // namespace

PassStream::PassStream(Combiner& combiner, const Counter& counter, Field field, Pass pass,
                       std::vector<KnownFile> listed, const std::optional<KnownFile>& known, std::string file_name)
    : combiner_(combiner), counter_(counter), field_(field), pass_(pass), listed_(std::move(listed)) {
  if (known) {
    stream_ = known->stream;
    position_ = known->position;
    checkpoint_ = known->checkpoint;
    lines_read_ = checkpoint_.lines_read;
  } else {
    stream_ = stream_name(counter_.name(), field_, pass_, next_number(listed_, pass_));
  }
  checkpoint_.run = draw_run();
  checkpoint_.name = std::move(file_name);
}

Result<Applied> PassStream::apply(const std::string& stream, std::span<const Add> adds, std::int64_t from,
                                  std::int64_t to) {
  const auto checkpoint = encode(checkpoint_);
  return combiner_.apply(counter_, {.stream = stream, .from = from, .to = to, .checkpoint = checkpoint, .adds = adds},
                         deadline_in(commit_wait_ms_max));
}

Result<Moved> PassStream::move(std::span<const Add> adds, std::int64_t to, std::uint64_t lines, const Digest& digest,
                               std::string_view head, bool reopens, Applied& applied) {
  const auto head_bytes = std::min<std::size_t>(head_bytes_max, static_cast<std::size_t>(to));
  checkpoint_.lines_read = lines_read_ + lines;
  checkpoint_.digest = digest;
  checkpoint_.head_bytes = static_cast<std::uint16_t>(head_bytes);
  checkpoint_.head = Sha256::of(head.substr(0, head_bytes));
  for (int tries = 1;; ++tries) {
    auto done = apply(stream_, adds, position_, to);
    if (done) {
      applied = std::move(*done);
      position_ = to;
      lines_read_ = checkpoint_.lines_read;
      return Moved::committed;
    }
    if (done.error().code != ErrorCode::stream_conflict || tries == tries_max) return fail(std::move(done.error()));
    auto next = after_conflict(head, reopens);
    if (!next) return fail(std::move(next.error()));
    if (*next) return **next;
  }
}

/// Another run took our number, or is counting our file. Nothing: try once more, under the next number.
Result<std::optional<Moved>> PassStream::after_conflict(std::string_view head, bool reopens) {
  const auto same_file = [&] {
    return fail(ErrorCode::stream_conflict,
                fmt::format("another run is counting {} into {} at this moment; what this run committed stays, and when the other "
                            "has ended, run it again for the rest",
                            quoted(checkpoint_.name, 200), counter_.name()));
  };
  if (position_ > 0) return same_file();
  auto known = list_known(combiner_, counter_.name(), field_);
  if (!known) return fail(std::move(known.error()));
  const bool begun = std::any_of(known->begin(), known->end(), [&](const auto& file) {
    return file.pass == pass_ && !contains(listed_, file) && begins_like(file, head, reopens);
  });
  if (begun && !reopens) return same_file();
  if (begun) return std::optional(Moved::begin_again);
  listed_ = std::move(*known);
  stream_ = stream_name(counter_.name(), field_, pass_, next_number(listed_, pass_));
  return std::optional<Moved>();
}

Result<void> PassStream::finish_again(const std::optional<KnownFile>& plain) {
  for (int tries = 1;; ++tries) {
    auto told = let_plain_know(plain);
    if (!told) return fail(std::move(told.error()));
    if (*told) break;
    if (tries == tries_max) {
      return fail(ErrorCode::stream_conflict, fmt::format("other runs count {} into {} at this moment; run it with --again once "
                                                          "more to close this pass, which counts nothing twice",
                                                          quoted(checkpoint_.name, 200), counter_.name()));
    }
  }
  return combiner_.forget(std::span(&stream_, 1), deadline_in(commit_wait_ms_max));
}

/// Moves the plain stream up to here without adds, or makes one. False: another run was faster, look again.
Result<bool> PassStream::let_plain_know(const std::optional<KnownFile>& plain) {
  auto known = list_known(combiner_, counter_.name(), field_);
  if (!known) return fail(std::move(known.error()));
  auto stream = stream_name(counter_.name(), field_, Pass::plain, next_number(*known, Pass::plain));
  std::int64_t from = 0;
  for (const auto& file : *known) {
    const bool ours = plain && file.stream == plain->stream;
    const bool there = file.pass == Pass::plain && file.position == position_ && file.checkpoint.digest == checkpoint_.digest;
    if (there || (ours && file.position >= position_)) return true;
    if (ours) {
      stream = file.stream;
      from = file.position;
    }
  }
  auto done = apply(stream, {}, from, position_);
  if (done) return true;
  if (done.error().code == ErrorCode::stream_conflict) return false;
  return fail(std::move(done.error()));
}

}  // namespace splitcount::intake
