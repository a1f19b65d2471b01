// The file of rejected lines: one a line, tab-separated.
//
//   "access.log" <tab> 8899 <tab> no target in the request <tab> "10.0.0.1 - - [...] \"-\" 408 ..."
//
// Names and lines are quoted (control characters and bytes that are no UTF-8 as \xNN), lines cut to 4 KiB. It is written
// before the commit it belongs to, so after a crash a line may stand there twice, but none is missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <splitcount/error.h>
#include <intake/chunk.h>
#include <intake/count.h>
#include <intake/descriptor.h>
#include <intake/raw_input.h>

namespace splitcount::intake {

class RejectsFile {
 public:
  /// Appends to the file, which is created where there is none. `input` is what is counted: its name stands in every
  /// row, and it must not be the same file. Errors: file_unreadable, invalid_argument.
  [[nodiscard]] static Result<RejectsFile> open(const std::string& path, const RawInput& input);

  /// The rejected lines of a parsed chunk whose first line has the number lines_before + 1.
  [[nodiscard]] Result<void> write(const Chunk& chunk, Field field, const Bounds& bounds, std::uint64_t lines_before);
  /// Lines that were refused together after they were merged: the key and how many.
  [[nodiscard]] Result<void> write(Reason reason, std::string_view key, std::uint64_t lines);
  /// Hands everything to the operating system. Errors: disk_full, io_error.
  [[nodiscard]] Result<void> flush();

 private:
  RejectsFile() = default;
  [[nodiscard]] Result<void> row(std::string_view number, Reason reason, std::string_view what);

  Descriptor fd_;
  std::string path_;
  std::string input_name_;
  std::string text_;  ///< not written yet
};

}  // namespace splitcount::intake
