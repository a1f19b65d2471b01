#include <engine/sqlite/sandbox.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/text.h>

namespace splitcount::engine::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_bytes_max = 200;
constexpr std::array<std::string_view, 4> file_endings{"", "-wal", "-shm", "-journal"};
constexpr std::size_t name_bytes_max = 255;

std::string lock_of(const std::string& path) { return path + ".lock"; }

/// What the lock file says. It is written before any other file is made: what lies beside it is a trial's.
constexpr std::string_view mark = "the lock of a trial of splitcount\n";

/// What the descriptor's file holds, as far as it is as long as the mark.
std::string head_of(int file) {
  std::array<char, mark.size() + 1> bytes{};
  const auto got = ::pread(file, bytes.data(), bytes.size(), 0);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

Error not_ours(const std::string& path) {
  Error error;
  error.code = ErrorCode::name_clash;
  error.message = fmt::format("a file {} is there that is none of ours, and a trial needs that name; move it away",
                              quoted(path, shown_bytes_max));
  return error;
}

/// Nothing is in the way, or what a trial has left.
Result<void> check_ours(const std::string& path, int lock) {
  if (head_of(lock) == mark) return {};
  if (!head_of(lock).empty()) return fail(not_ours(lock_of(path)));
  for (const auto ending : file_endings) {
    std::error_code failed;
    const auto file = path + std::string(ending);
    if (fs::symlink_status(file, failed).type() == fs::file_type::not_found) continue;
    ::unlink(lock_of(path).c_str());  // it was made just now
    return fail(not_ours(file));
  }
  if (::pwrite(lock, mark.data(), mark.size(), 0) == static_cast<ssize_t>(mark.size())) return {};
  const int code = errno;
  ::unlink(lock_of(path).c_str());
  return fail(code == ENOSPC ? ErrorCode::disk_full : ErrorCode::io_error,
              fmt::format("the trial's lock file cannot be written ({})", std::strerror(code)));
}

/// The descriptor of a lock file that this process holds. A file that somebody has removed meanwhile locks nothing.
Result<int> take_lock(const std::string& path) {
  const auto refuse = [&path](int code) {
    return fail(code == EACCES || code == EPERM ? ErrorCode::permission_denied : code == EROFS ? ErrorCode::read_only
                                                                                               : ErrorCode::io_error,
                fmt::format("the trial's lock file {} cannot be made ({})", quoted(path, shown_bytes_max),
                            std::strerror(code)));
  };
  for (;;) {
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock < 0) return refuse(errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      ::close(lock);
      if (code != EWOULDBLOCK) return refuse(code);
      return fail(ErrorCode::database_busy, "another trial is running beside this database; wait until it has ended");
    }
    struct stat info {};
    if (::fstat(lock, &info) == 0 && info.st_nlink > 0) return lock;
    ::close(lock);
  }
}

Result<void> remove_files(const std::string& path) {
  for (const auto ending : file_endings) {
    std::error_code failed;
    const std::string file = path + std::string(ending);
    fs::remove(file, failed);
    if (failed) {
      return fail(ErrorCode::io_error, fmt::format("the trial's file {} cannot be removed ({})",
                                                   quoted(file, shown_bytes_max), failed.message()));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Sandbox>> SqliteSandbox::open(std::string path, std::unique_ptr<Engine> engine,
                                                     Deadline deadline) {
  if (fs::path(path).filename().string().size() + file_endings.back().size() > name_bytes_max) {
    return fail(ErrorCode::invalid_argument,
                "the database file's name is too long for a trial's file beside it, which has -trial-journal at its end");
  }
  auto lock = take_lock(lock_of(path));
  if (!lock) return fail(std::move(lock.error()));
  if (auto checked = check_ours(path, *lock); !checked) {
    ::close(*lock);
    return fail(std::move(checked.error()));
  }
  std::unique_ptr<SqliteSandbox> sandbox(new SqliteSandbox(std::move(path), std::move(engine), *lock));
  if (auto removed = remove_files(sandbox->path_); !removed) return fail(std::move(removed.error()));
  auto created = sandbox->engine_->connect(true, deadline);
  if (!created) return fail(std::move(created.error()));
  return sandbox;
}

SqliteSandbox::~SqliteSandbox() {
  ::unlink(lock_of(path_).c_str());  // while it is held: whoever waits for it sees that it has gone
  ::close(lock_);
}

std::string SqliteSandbox::name() const { return fmt::format("the file {}", quoted(path_, shown_bytes_max)); }

Result<void> SqliteSandbox::remove() { return remove_files(path_); }

}  // namespace splitcount::engine::sqlite
