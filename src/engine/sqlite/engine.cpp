#include <engine/sqlite/engine.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <base/limits.h>
#include <base/text.h>
#include <engine/sqlite/connection.h>
#include <engine/sqlite/console.h>
#include <engine/sqlite/counter_sql.h>
#include <engine/sqlite/errors.h>
#include <engine/sqlite/sandbox.h>

namespace splitcount::engine::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shown_bytes_max = 200;

std::string shown(const std::string& path) { return quoted(path, shown_bytes_max); }

/// With the rights that opening it would have, which those of access() are not in a setuid program.
bool may(const fs::path& path, int what) { return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0; }

Result<void> check_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) {
    return fail(ErrorCode::database_unavailable,
                fmt::format("the database file {} cannot be created: there is no folder {}", shown(path),
                            shown(folder.string())));
  }
  if (may(folder, W_OK | X_OK)) return {};
  if (errno == EROFS) {
    return fail(ErrorCode::read_only,
                fmt::format("the database file {} cannot be created: its folder cannot be written", shown(path)));
  }
  return fail(ErrorCode::permission_denied,
              fmt::format("the database file {} cannot be created: this user may not write its folder", shown(path)));
}

/// What can be said before SQLite is asked, in words that name the file.
Result<void> check_file(const std::string& path, bool create) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  switch (status.type()) {
    case fs::file_type::regular:
      if (may(path, R_OK)) return {};
      return fail(ErrorCode::permission_denied,
                  fmt::format("this user may not read the database file {}", shown(path)));
    case fs::file_type::not_found:
      if (create) return check_folder(path);
      return fail(ErrorCode::database_unavailable,
                  fmt::format("there is no database file {}; `splitcount define` creates it", shown(path)));
    case fs::file_type::directory:
      return fail(ErrorCode::not_a_database, fmt::format("{} is a folder, not a database file", shown(path)));
    case fs::file_type::none:
      return fail(
          failed == std::errc::permission_denied ? ErrorCode::permission_denied : ErrorCode::database_unavailable,
          fmt::format("the database file {} cannot be reached: {}", shown(path), failed.message()));
    default: return fail(ErrorCode::not_a_database, fmt::format("{} is no ordinary file, so no database", shown(path)));
  }
}

class SqliteEngine final : public Engine {
 public:
  explicit SqliteEngine(std::string path) : path_(std::move(path)) {}

  const rule::EngineTraits& traits() const noexcept override { return sqlite::traits(); }
  std::string_view dialect() const noexcept override { return sqlite::dialect; }
  std::string display_name() const override { return path_; }
  std::string place() const override {
    std::error_code failed;  // without a current folder the path is what there is
    const auto path = std::filesystem::absolute(path_, failed);
    return fmt::format("the SQLite database {}", quoted(failed ? path_ : path.lexically_normal().string(), limits::place_bytes_max));
  }

  Result<std::unique_ptr<Connection>> connect(bool create, Deadline deadline) override {
    auto handle = open_handle(create);
    if (!handle) return fail(std::move(handle.error()));
    auto connection = SqliteConnection::own(std::move(*handle));
    if (auto prepared = connection->prepare_database(create, deadline); !prepared) {
      return fail(std::move(prepared.error()));
    }
    return connection;
  }

  Result<std::unique_ptr<Console>> console(Deadline deadline) override {
    auto handle = open_handle(false);
    if (!handle) return fail(std::move(handle.error()));
    return SqliteConsole::open(std::move(*handle), deadline);
  }

  Result<std::unique_ptr<Sandbox>> sandbox(Deadline deadline) override {
    auto users = connect(false, deadline);  // a path that is mistyped is told as elsewhere
    if (!users) return fail(std::move(users.error()));
    auto path = path_ + "-trial";
    auto engine = std::make_unique<SqliteEngine>(path);
    return SqliteSandbox::open(std::move(path), std::move(engine), deadline);
  }

 private:
  Result<Handle> open_handle(bool create) {
    if (auto checked = check_file(path_, create); !checked) return fail(std::move(checked.error()));
    // SQLite gives "file:", ":memory:" and an empty name a meaning of their own; "./" takes it away.
    const std::string file = path_.front() == '/' ? path_ : "./" + path_;
    // EXRESCODE: errors are told apart by extended codes. NOMUTEX: a connection serves one thread at a time.
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_EXRESCODE |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
    Handle handle(opened);
    if (code != SQLITE_OK) return fail(error_from(handle.get(), code));
    return handle;
  }

  std::string path_;
};

}  // namespace

const rule::EngineTraits& traits() noexcept {
  static const rule::EngineTraits sqlite{
      .name = "SQLite",
      .one_writer = true,
      .slots_default = 1,
      .padded = false,
      .journal = false,
      .rolled_up = false,
      .padded_refusal = "it has one writer, so a page for each slot would only cost space"};
  return sqlite;
}

Result<std::shared_ptr<Engine>> open(std::string_view path) {
  if (path.empty()) return fail(ErrorCode::config_invalid, "the database has an empty path; give the path of a file");
  if (path == ":memory:") {
    return fail(ErrorCode::config_invalid,
                "a database in memory is not for counting: each connection would have one of its own; give the path of "
                "a file");
  }
  if (path.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::config_invalid, fmt::format("{} is no path: it holds a zero byte", quoted(path)));
  }
  return std::make_shared<SqliteEngine>(std::string(path));
}

Result<std::unique_ptr<Connection>> borrow(sqlite3* handle) {
  if (handle == nullptr) return fail(ErrorCode::invalid_argument, "the borrowed sqlite3 handle is null");
  if (sqlite3_get_autocommit(handle) != 0) {
    return fail(ErrorCode::no_transaction,
                "the borrowed sqlite3 handle has no open transaction; send BEGIN IMMEDIATE before the add");
  }
  return SqliteConnection::borrow(handle);
}

}  // namespace splitcount::engine::sqlite
