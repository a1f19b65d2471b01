#include <intake/rejects_file.h>

#include <cerrno>

#include <fcntl.h>

#include <fmt/format.h>

#include <base/text.h>
#include <intake/access_log.h>

namespace splitcount::intake {
namespace {

constexpr std::size_t text_bytes_max = 256U << 10U;

std::string number_of_lines(std::uint64_t lines) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(lines)), lines == 1 ? "line" : "lines");
}

}  // namespace

Result<RejectsFile> RejectsFile::open(const std::string& path, const RawInput& input) {
  RejectsFile file;
  file.path_ = path;
  file.input_name_ = input.shown_name();
  file.fd_ = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file.fd_) {
    return fail(ErrorCode::file_unreadable,
                fmt::format("cannot write the rejects file {}: {}", quoted(path, 200), errno_text(errno)));
  }
  if (input.is_same_file(file.fd_.get())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the rejects file {} is the file that is counted; name another one", quoted(path, 200)));
  }
  return file;
}

Result<void> RejectsFile::write(const Chunk& chunk, Field field, const Bounds& bounds, std::uint64_t lines_before) {
  Result<void> written;
  auto number = lines_before;
  if (chunk.overlong) written = row(std::to_string(++number), Reason::line_too_long, chunk.overlong_start);
  std::string scratch;
  each_line(chunk.lines(), [&](std::string_view line, std::size_t) {
    ++number;
    auto reading = read_key(line, field, bounds.line_bytes_max, scratch);
    if (reading.reason == Reason::none) reading.reason = key_reason(reading.text);
    if (written && reading.reason != Reason::none) written = row(std::to_string(number), reading.reason, line);
  });
  return written;
}

Result<void> RejectsFile::write(Reason reason, std::string_view key, std::uint64_t lines) {
  return row(number_of_lines(lines), reason, key);
}

Result<void> RejectsFile::row(std::string_view number, Reason reason, std::string_view what) {
  text_ += fmt::format("{}\t{}\t{}\t{}\n", input_name_, number, to_text(reason), quoted(what, reject_line_bytes_max));
  if (text_.size() < text_bytes_max) return {};
  return flush();
}

Result<void> RejectsFile::flush() {
  std::string_view left = text_;
  while (!left.empty()) {
    const auto written = ::write(fd_.get(), left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return fail(errno == ENOSPC || errno == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
                  fmt::format("writing the rejects file {} failed: {}", quoted(path_, 200), errno_text(errno)));
    }
  }
  text_.clear();
  return {};
}

}  // namespace splitcount::intake
