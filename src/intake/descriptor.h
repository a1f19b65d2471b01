// A file descriptor that closes itself.
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace splitcount::intake {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd, bool owned = true) noexcept : fd_(fd), owned_(owned) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owned_(other.owned_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Descriptor() {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
  bool owned_ = true;  ///< false: standard input, which is not ours to close
};

/// What errno says, e.g. "Input/output error"; safe with threads.
[[nodiscard]] inline std::string errno_text(int number) { return std::generic_category().message(number); }

}  // namespace splitcount::intake
