#include <faults/child.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace splitcount::faults {

Child::Child(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a worker");
  std::string program = FAULTS_WORKER;
  std::vector<std::string> words = arguments;
  std::vector<char*> argv{program.data()};
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failed = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  pipe_ = ends[0];
  if (failed != 0) throw std::runtime_error("the worker " + program + " cannot be started");
}

Child::~Child() {
  if (!ended_) {
    kill();
    wait();
  }
  close(pipe_);
}

std::optional<std::int64_t> Child::next() {
  std::int64_t number = 0;
  std::size_t have = 0;
  while (have < sizeof number) {
    const auto got = read(pipe_, reinterpret_cast<char*>(&number) + have, sizeof number - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    have += static_cast<std::size_t>(got);
  }
  return number;
}

std::vector<std::int64_t> Child::rest() {
  std::vector<std::int64_t> numbers;
  while (const auto number = next()) numbers.push_back(*number);
  return numbers;
}

void Child::kill() { ::kill(pid_, SIGKILL); }

int Child::wait() {
  if (ended_) return *ended_;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return *ended_;
}

}  // namespace splitcount::faults
