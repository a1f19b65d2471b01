// Bytes of a pipe that may have to be read again: in memory while they are few, then in a temporary file without a
// name, so that nothing is left behind however the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <splitcount/error.h>
#include <intake/descriptor.h>

namespace splitcount::intake {

class Spool {
 public:
  static constexpr std::size_t memory_bytes_max = 64U << 10U;

  /// Errors: disk_full, io_error, naming the folder (TMPDIR, else the system's own).
  [[nodiscard]] Result<void> append(std::string_view bytes);
  /// Bytes from `at` on, where at < size(); at least one.
  [[nodiscard]] Result<std::size_t> read(std::uint64_t at, std::span<char> into) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] Result<void> open_file();
  [[nodiscard]] Result<void> write(std::string_view bytes);

  std::string memory_;
  Descriptor file_;
  std::string folder_;
  std::uint64_t size_ = 0;
};

}  // namespace splitcount::intake
