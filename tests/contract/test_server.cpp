#include <contract/test_server.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace splitcount::contract {
namespace {

constexpr auto start_wait = std::chrono::seconds(120);

/// Servers refuse to run as root, or should, so root's tests run them as somebody else.
const passwd* server_user(const std::vector<const char*>& users) {
  if (geteuid() != 0) return nullptr;
  for (const char* name : users) {
    if (const passwd* user = getpwnam(name)) return user;
  }
  return nullptr;
}

[[noreturn]] void become_keeper(const char* script, const std::string& folder, const std::string& programs, bool syncs,
                                const passwd* user, int input) {
  if (dup2(input, STDIN_FILENO) < 0) _exit(1);
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
  setsid();
  if (user != nullptr && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(1);
  execl("/bin/sh", "sh", "-c", script, "keeper", folder.c_str(), programs.c_str(), syncs ? "on" : "off", nullptr);
  _exit(1);
}

std::string log_of(const std::string& folder) {
  std::string text;
  for (const auto* name : {"/init.log", "/server.log"}) {
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

TestServer::TestServer(std::string name, const char* script, const std::string& programs, bool syncs,
                       const std::vector<const char*>& users)
    : name_(std::move(name)) {
  // What syncs nothing asks nothing of a disk, and a folder in memory is made and removed faster.
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = !syncs && access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  std::string pattern = (parent / "splitcount-server-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory for the tests' " + name_ + " server");
  folder_ = pattern;
  const passwd* user = server_user(users);
  if (user != nullptr && chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("chown " + folder_);
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the tests' " + name_ + " server");
  keeper_ = fork();
  if (keeper_ == 0) become_keeper(script, folder_, programs, syncs, user, ends[0]);
  close(ends[0]);
  keep_alive_ = ends[1];
  if (keeper_ < 0) throw std::runtime_error("no process for the tests' " + name_ + " server");
}

TestServer::~TestServer() {
  close(keep_alive_);
  waitpid(keeper_, nullptr, 0);
}

void TestServer::wait_until_ready() const {
  const auto deadline = std::chrono::steady_clock::now() + start_wait;
  while (!is_ready()) {
    const bool ended = waitpid(keeper_, nullptr, WNOHANG) != 0;
    if (ended || std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("the tests' " + name_ + " server did not start: " + log_of(folder_));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::vector<pid_t> TestServer::processes() const {
  std::vector<pid_t> all(1);
  std::ifstream(folder_ + "/" + pid_file()) >> all.front();
  const auto server = std::to_string(all.front());
  std::error_code ignored;
  if (std::filesystem::read_symlink("/proc/" + server + "/cwd", ignored) != folder_ + "/data") {
    throw std::runtime_error("the tests' " + name_ + " server does not run, so nothing can be done to it");
  }
  std::ifstream children("/proc/" + server + "/task/" + server + "/children");
  for (pid_t pid = 0; children >> pid;) all.push_back(pid);
  return all;
}

void TestServer::freeze() {
  const auto server = processes().front();
  ::kill(server, SIGSTOP);
  wait_for_state(server, "TZ-");  // it forks no more
  for (const auto pid : processes()) ::kill(pid, SIGSTOP);
}

void TestServer::go_on() {
  for (const auto pid : processes()) ::kill(pid, SIGCONT);
}

void TestServer::kill() {
  freeze();
  const auto all = processes();
  for (const auto pid : all) ::kill(pid, SIGKILL);
  for (const auto pid : all) wait_for_state(pid, "Z-");
}

void TestServer::start() {
  if (write(keep_alive_, "\n", 1) != 1) throw std::runtime_error("the keeper of the tests' " + name_ + " server has gone");
  wait_until_ready();
}

}  // namespace splitcount::contract
