#include <intake/spool.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::intake {
namespace {

tl::unexpected<Error> spool_failed(std::string_view folder, int number) {
  return fail(number == ENOSPC || number == EDQUOT ? ErrorCode::disk_full : ErrorCode::io_error,
              fmt::format("cannot keep what the pipe sends in a temporary file in {}: {}; set TMPDIR to a folder with room",
                          quoted(folder, 200), errno_text(number)));
}

}  // namespace

Result<void> Spool::append(std::string_view bytes) {
  if (!file_ && memory_.size() + bytes.size() <= memory_bytes_max) {
    memory_ += bytes;
    size_ += bytes.size();
    return {};
  }
  if (!file_) {
    auto opened = open_file();
    if (!opened) return opened;
  }
  return write(bytes);
}

Result<void> Spool::open_file() {
  const char* const folder = std::getenv("TMPDIR");
  folder_ = folder != nullptr && *folder != '\0' ? folder : P_tmpdir;
  std::string path = folder_ + "/splitcount-XXXXXX";
  file_ = Descriptor(::mkostemp(path.data(), 0));
  if (!file_) return spool_failed(folder_, errno);
  ::unlink(path.c_str());
  size_ = 0;
  const auto kept = std::exchange(memory_, {});
  return write(kept);
}

Result<void> Spool::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return spool_failed(folder_, errno);
    size_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::size_t> Spool::read(std::uint64_t at, std::span<char> into) const {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - at));
  if (!file_) {
    std::memcpy(into.data(), memory_.data() + at, wanted);
    return wanted;
  }
  for (;;) {
    const auto got = ::pread(file_.get(), into.data(), wanted, static_cast<off_t>(at));
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) return spool_failed(folder_, EIO);
    if (errno != EINTR) return spool_failed(folder_, errno);
  }
}

}  // namespace splitcount::intake
