#include <contract/postgresql_server.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace splitcount::contract {
namespace {

constexpr auto start_wait = std::chrono::seconds(120);

/// Where initdb and postgres are: SPLITCOUNT_POSTGRESQL_BIN, or Debian's. Without links, since the server's user may be
/// unable to enter the folder that they start from.
std::string programs() {
  const char* given = std::getenv("SPLITCOUNT_POSTGRESQL_BIN");
  const std::filesystem::path folder = given == nullptr ? "/usr/lib/postgresql/15/bin" : given;
  if (!exists(folder / "postgres")) {
    throw std::runtime_error("there is no PostgreSQL in " + folder.string() + "; ./test fetches it");
  }
  return canonical(folder).string();
}

/// PostgreSQL refuses to run as root, so root's tests run it as the user of the package, or as nobody.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  const passwd* user = getpwnam("postgres");
  return user != nullptr ? user : getpwnam("nobody");
}

/// keeper.sh FOLDER PROGRAMS SYNCS: makes the database, runs the server, runs it again for each line of its input, and
/// stops it at the end of that, which comes when the test program has ended, in whatever way. The folder goes with it.
constexpr const char* keeper_script = R"(
folder=$1 programs=$2 syncs=$3
trap '' INT HUP TERM
cd "$folder" || exit 1
"$programs/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >initdb.log 2>&1 || exit 1
cat >>data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 200
max_prepared_transactions = 10
fsync = $syncs
full_page_writes = $syncs
shared_buffers = 32MB
recovery_init_sync_method = syncfs
END
start() {
  "$programs/postgres" -D data >>server.log 2>&1 </dev/null &
  server=$!
}
start
while read -r line; do
  wait $server
  start
done
kill -CONT $server $(cat /proc/$server/task/$server/children) 2>/dev/null
kill -INT $server
wait $server
cd / && rm -rf "$folder"
)";

[[noreturn]] void become_keeper(const std::string& folder, const std::string& programs, bool syncs, int input) {
  if (dup2(input, STDIN_FILENO) < 0) _exit(1);
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
  setsid();
  if (const passwd* user = server_user()) {
    if (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(1);
  }
  execl("/bin/sh", "sh", "-c", keeper_script, "keeper", folder.c_str(), programs.c_str(), syncs ? "on" : "off", nullptr);
  _exit(1);
}

std::string log_of(const std::string& folder) {
  std::string text;
  for (const auto* name : {"/initdb.log", "/server.log"}) {
    std::ifstream file(folder + name);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

/// 'R', 'S', ...; 'T' stopped, 'Z' ended and not reaped by its parent, which need not be us; '-' gone.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos ? '-' : text[name_end + 2];
}

void wait_for_state(pid_t pid, std::string_view states) {
  while (states.find(state_of(pid)) == std::string_view::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

const PostgresqlServer& PostgresqlServer::instance() {
  static PostgresqlServer server(false);
  return server;
}

PostgresqlServer::PostgresqlServer(bool syncs) {
  const std::string found = programs();
  std::string pattern = (std::filesystem::temp_directory_path() / "splitcount-pg-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory for the tests' PostgreSQL server");
  folder_ = pattern;
  if (const passwd* user = server_user()) {
    if (chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("chown " + folder_);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the tests' PostgreSQL server");
  keeper_ = fork();
  if (keeper_ == 0) become_keeper(folder_, found, syncs, ends[0]);
  close(ends[0]);
  keep_alive_ = ends[1];
  if (keeper_ < 0) throw std::runtime_error("no process for the tests' PostgreSQL server");
  wait_until_ready();
}

PostgresqlServer::~PostgresqlServer() {
  close(keep_alive_);
  waitpid(keeper_, nullptr, 0);
}

void PostgresqlServer::wait_until_ready() const {
  const auto deadline = std::chrono::steady_clock::now() + start_wait;
  while (PQping(conninfo("postgres").c_str()) != PQPING_OK) {
    const bool ended = waitpid(keeper_, nullptr, WNOHANG) != 0;
    if (ended || std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("the tests' PostgreSQL server did not start: " + log_of(folder_));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::vector<pid_t> PostgresqlServer::processes() const {
  std::vector<pid_t> all(1);
  std::ifstream(folder_ + "/data/postmaster.pid") >> all.front();
  const auto server = std::to_string(all.front());
  std::error_code ignored;
  if (std::filesystem::read_symlink("/proc/" + server + "/cwd", ignored) != folder_ + "/data") {
    throw std::runtime_error("the tests' PostgreSQL server does not run, so nothing can be done to it");
  }
  std::ifstream children("/proc/" + server + "/task/" + server + "/children");
  for (pid_t pid = 0; children >> pid;) all.push_back(pid);
  return all;
}

void PostgresqlServer::freeze() {
  const auto server = processes().front();
  ::kill(server, SIGSTOP);
  wait_for_state(server, "TZ-");  // it forks no more
  for (const auto pid : processes()) ::kill(pid, SIGSTOP);
}

void PostgresqlServer::go_on() {
  for (const auto pid : processes()) ::kill(pid, SIGCONT);
}

void PostgresqlServer::kill() {
  freeze();
  const auto all = processes();
  for (const auto pid : all) ::kill(pid, SIGKILL);
  for (const auto pid : all) wait_for_state(pid, "Z-");
}

void PostgresqlServer::start() {
  if (write(keep_alive_, "\n", 1) != 1) throw std::runtime_error("the keeper of the tests' PostgreSQL server has gone");
  wait_until_ready();
}

// Only a socket in the folder of its own: no port of the machine is taken, and nobody else can meet it.
std::string PostgresqlServer::conninfo(const std::string& database) const {
  return "host=" + folder_ + " user=postgres dbname=" + database;
}

}  // namespace splitcount::contract
