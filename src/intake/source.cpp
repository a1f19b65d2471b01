#include <intake/source.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::intake {

Result<Source> Source::open(std::string_view path) {
  auto raw = RawInput::open(path);
  if (!raw) return fail(std::move(raw.error()));
  return Source(std::move(*raw));
}

std::optional<std::uint64_t> Source::plain_size() const noexcept {
  if (!told_ || gunzip_) return std::nullopt;
  return raw_.size();
}

Result<ReadResult> Source::read(std::span<char> into, std::chrono::milliseconds wait) {
  if (position_ < spool_.size()) {
    auto replayed = spool_.read(position_, into);
    if (!replayed) return fail(std::move(replayed.error()));
    position_ += *replayed;
    return ReadResult{*replayed, false};
  }
  auto got = fresh(into, wait);
  if (!got || got->bytes == 0) return got;
  if (keeping_) {
    auto kept = spool_.append({into.data(), got->bytes});
    if (!kept) return fail(std::move(kept.error()));
  }
  position_ += got->bytes;
  return got;
}

Result<ReadResult> Source::fresh(std::span<char> into, std::chrono::milliseconds wait) {
  while (!told_) {  // one byte tells nothing unless it is the last
    auto got = fill_input(wait);
    if (!got || (got->bytes == 0 && !got->ended)) return got;
    const std::string_view first(input_.data(), input_end_);
    told_ = first.size() >= 2 || got->ended;
    if (told_ && is_gzip(first)) gunzip_.emplace();
  }
  if (gunzip_) return inflate(into, wait);
  if (input_at_ < input_end_) {
    const auto bytes = std::min(into.size(), input_end_ - input_at_);
    std::memcpy(into.data(), input_.data() + input_at_, bytes);
    input_at_ += bytes;
    return ReadResult{bytes, false};
  }
  return raw_.read(into, wait);
}

/// Appends to input_, from its start where all of it was used.
Result<ReadResult> Source::fill_input(std::chrono::milliseconds wait) {
  input_.resize(input_bytes);
  if (input_at_ == input_end_) input_at_ = input_end_ = 0;
  auto got = raw_.read(std::span(input_).subspan(input_end_), wait);
  if (got) input_end_ += got->bytes;
  return got;
}

Result<ReadResult> Source::inflate(std::span<char> into, std::chrono::milliseconds wait) {
  for (;;) {
    if (input_at_ == input_end_) {
      auto got = fill_input(wait);
      if (got && got->ended && !gunzip_->may_end()) return damaged("ends in the middle of its compressed data");
      if (!got || got->bytes == 0) return got;
    }
    const auto step = gunzip_->step({input_.data() + input_at_, input_end_ - input_at_}, into);
    input_at_ += step.used;
    if (step.made > 0) return ReadResult{step.made, false};
    if (step.damaged || step.used == 0) return damaged("holds damaged compressed data");
  }
}

tl::unexpected<Error> Source::damaged(std::string_view how) const {
  return fail(ErrorCode::file_unreadable,
              fmt::format("{} {}; the whole lines among the {} bytes that came out before were counted", raw_.shown_name(),
                          how, grouped(static_cast<std::int64_t>(position_))));
}

Result<void> Source::seek(std::uint64_t position) {
  if (position == position_) return {};
  if (!raw_.seekable()) {
    position_ = position;  // lies within the spool, since it was read before
    return {};
  }
  input_at_ = input_end_ = 0;
  if (!gunzip_) {
    raw_.seek(position);
    position_ = position;
    return {};
  }
  raw_.seek(0);
  gunzip_.emplace();
  position_ = 0;
  std::vector<char> skipped(input_bytes);
  while (position_ < position) {
    const auto left = std::min<std::uint64_t>(skipped.size(), position - position_);
    auto got = inflate(std::span(skipped).first(static_cast<std::size_t>(left)), {});
    if (!got) return fail(std::move(got.error()));
    if (got->ended) return damaged("became shorter while it was read");
    position_ += got->bytes;
  }
  return {};
}

}  // namespace splitcount::intake
