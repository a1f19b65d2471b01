#include <intake/raw_input.h>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::intake {
namespace {

tl::unexpected<Error> cannot_open(std::string_view path, int number) {
  const auto name = quoted(path, 200);
  if (number == ENOENT) return fail(ErrorCode::file_unreadable, fmt::format("there is no file {}", name));
  if (number == EACCES) return fail(ErrorCode::file_unreadable, fmt::format("no permission to read the file {}", name));
  return fail(ErrorCode::file_unreadable, fmt::format("cannot open the file {}: {}", name, errno_text(number)));
}

}  // namespace

Result<RawInput> RawInput::open(std::string_view path) {
  RawInput input;
  if (path == "-") {
    input.fd_ = Descriptor(STDIN_FILENO, false);
    input.shown_name_ = "standard input";
  } else {
    if (path.find('\0') != std::string_view::npos) return cannot_open(path, ENOENT);
    input.fd_ = Descriptor(::open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!input.fd_) return cannot_open(path, errno);
    input.shown_name_ = quoted(path, 200);
  }
  auto looked = input.look();
  if (!looked) return fail(std::move(looked.error()));
  return input;
}

Result<void> RawInput::look() {
  struct stat about {};
  if (::fstat(fd_.get(), &about) != 0) {
    return fail(ErrorCode::file_unreadable, fmt::format("cannot read {}: {}", shown_name_, errno_text(errno)));
  }
  if (S_ISDIR(about.st_mode)) {
    return fail(ErrorCode::file_unreadable, fmt::format("{} is a directory; name the log files in it", shown_name_));
  }
  seekable_ = S_ISREG(about.st_mode);
  if (!seekable_) return {};
  const auto at = ::lseek(fd_.get(), 0, SEEK_CUR);
  base_ = at > 0 ? static_cast<std::uint64_t>(at) : 0;
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);  // a hint: what it returns changes nothing
  return {};
}

Result<ReadResult> RawInput::read(std::span<char> into, std::chrono::milliseconds wait) {
  for (;;) {
    if (!seekable_) {
      pollfd polled{fd_.get(), POLLIN, 0};
      const int ready = ::poll(&polled, 1, static_cast<int>(wait.count()));
      if (ready == 0 || (ready < 0 && errno == EINTR)) return ReadResult{};
    }
    const auto got = seekable_ ? ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(base_ + offset_))
                               : ::read(fd_.get(), into.data(), into.size());
    if (got >= 0) {
      offset_ += static_cast<std::uint64_t>(got);
      return ReadResult{static_cast<std::size_t>(got), got == 0};
    }
    if (errno == EAGAIN) return ReadResult{};
    if (errno != EINTR) {
      return fail(ErrorCode::io_error, fmt::format("reading {} failed at byte {}: {}", shown_name_,
                                                   grouped(static_cast<std::int64_t>(base_ + offset_)), errno_text(errno)));
    }
  }
}

std::optional<std::uint64_t> RawInput::size() const noexcept {
  struct stat about {};
  if (!seekable_ || ::fstat(fd_.get(), &about) != 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  return size - std::min(size, base_);
}

bool RawInput::is_same_file(int fd) const noexcept {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(fd_.get(), &ours) == 0 && ::fstat(fd, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

}  // namespace splitcount::intake
