// Another process that counts, to be killed: the program faults_worker with what it says on its pipe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace splitcount::faults {

class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The next number that the worker acknowledged; nothing at the end of its pipe.
  [[nodiscard]] std::optional<std::int64_t> next();
  /// All that it acknowledged and that was not read yet, up to the end of the pipe.
  [[nodiscard]] std::vector<std::int64_t> rest();
  void kill();  ///< SIGKILL
  /// Waits for the end. The exit code, or -signal where a signal ended it.
  int wait();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::optional<int> ended_;
};

}  // namespace splitcount::faults
