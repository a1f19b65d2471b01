#include <engine/sqlite/sandbox.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/text.h>
#include <engine/sqlite/counter_sql.h>

namespace splitcount::engine::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_bytes_max = 200;
constexpr std::array<std::string_view, 4> file_endings{"", "-wal", "-shm", "-journal"};

std::string lock_of(const std::string& path) { return path + ".lock"; }

/// True: nothing, or a file that a trial made: its application id tells, or that nothing was written yet.
bool is_ours(const std::string& path) {
  constexpr std::size_t application_id_at = 68;  // https://www.sqlite.org/fileformat.html
  constexpr std::string_view application_id = "spct";
  std::error_code failed;
  const auto status = fs::symlink_status(path, failed);
  if (status.type() == fs::file_type::not_found) return true;
  if (status.type() != fs::file_type::regular) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, application_id_at + application_id.size()> head{};
  file.read(head.data(), head.size());
  return file.gcount() == 0 ||
         (file.gcount() == static_cast<std::streamsize>(head.size()) &&
          std::string_view(head.data(), head.size()).substr(application_id_at) == application_id);
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
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
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
  if (!is_ours(path)) {
    return fail(ErrorCode::name_clash, fmt::format("a file {} is there that is none of ours; a trial needs that name",
                                                   quoted(path, shown_bytes_max)));
  }
  auto lock = take_lock(lock_of(path));
  if (!lock) return fail(std::move(lock.error()));
  std::unique_ptr<SqliteSandbox> sandbox(new SqliteSandbox(std::move(path), std::move(engine), *lock));
  if (auto removed = remove_files(sandbox->path_); !removed) return fail(std::move(removed.error()));
  auto created = sandbox->engine_->connect(true, deadline);
  if (!created) return fail(std::move(created.error()));
  auto console = sandbox->engine_->console(deadline);
  if (!console) return fail(std::move(console.error()));
  auto marked = (*console)->ask(std::string(statement(dialect, "sandbox_create")));
  if (!marked) return fail(std::move(marked.error()));
  return sandbox;
}

SqliteSandbox::~SqliteSandbox() {
  ::unlink(lock_of(path_).c_str());  // while it is held: whoever waits for it sees that it has gone
  ::close(lock_);
}

std::string SqliteSandbox::name() const { return fmt::format("the file {}", quoted(path_, shown_bytes_max)); }

Result<void> SqliteSandbox::remove() { return remove_files(path_); }

}  // namespace splitcount::engine::sqlite
