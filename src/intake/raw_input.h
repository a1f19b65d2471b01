// The bytes of a file as they lie on disk, or of a pipe. read(2), never mmap: a file that is cut while it is read
// must end early and not kill the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <splitcount/error.h>
#include <intake/descriptor.h>

namespace splitcount::intake {

/// What one read gave. No bytes and not ended: nothing came within the wait (pipes only).
struct ReadResult {
  std::size_t bytes = 0;
  bool ended = false;
};

class RawInput {
 public:
  /// A path, or "-" for standard input. Error: file_unreadable.
  [[nodiscard]] static Result<RawInput> open(std::string_view path);

  /// Reads into a span that is not empty. A pipe is waited for at most `wait`. Error: io_error.
  [[nodiscard]] Result<ReadResult> read(std::span<char> into, std::chrono::milliseconds wait);
  /// True for a regular file, which can be read again.
  [[nodiscard]] bool seekable() const noexcept { return seekable_; }
  /// The next read begins here, counted from where the file stood when it was opened. Seekable inputs only.
  void seek(std::uint64_t offset) noexcept { offset_ = offset; }
  /// How far it was read.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// The size now; unset for a pipe.
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept;
  /// The same file on disk as this open descriptor?
  [[nodiscard]] bool is_same_file(int fd) const noexcept;
  /// For sentences: the path in quotes, or "standard input".
  [[nodiscard]] const std::string& shown_name() const noexcept { return shown_name_; }

 private:
  RawInput() = default;
  [[nodiscard]] Result<void> look();

  Descriptor fd_;
  std::string shown_name_;
  bool seekable_ = false;
  std::uint64_t base_ = 0;    ///< standard input may be a file that was read in part
  std::uint64_t offset_ = 0;
};

}  // namespace splitcount::intake
