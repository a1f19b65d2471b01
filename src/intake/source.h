// The decompressed bytes of one file, in order; what was read can be read again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/error.h>
#include <intake/gunzip.h>
#include <intake/raw_input.h>
#include <intake/spool.h>

namespace splitcount::intake {

class Source {
 public:
  /// A plain or gzipped file, told by its first bytes; "-" is standard input. Error: file_unreadable.
  [[nodiscard]] static Result<Source> open(std::string_view path);

  /// Reads into a span that is not empty. No bytes and not ended: a pipe had nothing for `wait`.
  /// Errors: io_error; file_unreadable for compressed data that is damaged or ends too early: what came out of it
  /// before that was handed out, and every later read says the same.
  [[nodiscard]] Result<ReadResult> read(std::span<char> into, std::chrono::milliseconds wait);
  /// From now on what a pipe sends is kept, so that seek can go back. Called before the first read.
  void keep() noexcept { keeping_ = !raw_.seekable(); }
  void stop_keeping() noexcept { keeping_ = false; }
  /// The next read begins at this decompressed byte, which was read before.
  [[nodiscard]] Result<void> seek(std::uint64_t position);

  /// How many decompressed bytes lie before the next one.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// Progress: bytes of the file as it lies on disk.
  [[nodiscard]] std::uint64_t raw_position() const noexcept { return raw_.offset(); }
  [[nodiscard]] std::optional<std::uint64_t> raw_size() const noexcept { return raw_.size(); }
  /// The decompressed size where it is known without reading.
  [[nodiscard]] std::optional<std::uint64_t> plain_size() const noexcept;
  /// False for a pipe: it cannot be opened a second time.
  [[nodiscard]] bool reopens() const noexcept { return raw_.seekable(); }
  [[nodiscard]] const RawInput& raw() const noexcept { return raw_; }

 private:
  static constexpr std::size_t input_bytes = 256U << 10U;
  explicit Source(RawInput raw) : raw_(std::move(raw)) {}
  [[nodiscard]] Result<ReadResult> fresh(std::span<char> into, std::chrono::milliseconds wait);
  [[nodiscard]] Result<ReadResult> fill_input(std::chrono::milliseconds wait);
  [[nodiscard]] Result<ReadResult> inflate(std::span<char> into, std::chrono::milliseconds wait);
  [[nodiscard]] tl::unexpected<Error> damaged(std::string_view how) const;

  RawInput raw_;
  std::optional<Gunzip> gunzip_;
  bool told_ = false;          ///< plain or gzip: the first bytes were seen
  std::vector<char> input_;    ///< raw bytes read and not used yet: input_[input_at_ .. input_end_)
  std::size_t input_at_ = 0;
  std::size_t input_end_ = 0;
  std::uint64_t position_ = 0;
  bool keeping_ = false;
  Spool spool_;                ///< a pipe's bytes [0, size) while keeping, and after
};

}  // namespace splitcount::intake
