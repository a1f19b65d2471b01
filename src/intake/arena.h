// Bytes that are kept until all of them are let go at once: keys of a group, decoded keys of a chunk.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace splitcount::intake {

class Arena {
 public:
  /// A copy that stays where it is until clear().
  [[nodiscard]] std::string_view keep(std::string_view bytes) {
    if (bytes.size() > free_) {
      free_ = std::max(block_bytes, bytes.size());
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_));
      next_ = blocks_.back().get();
    }
    char* const at = next_;
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    next_ += bytes.size();
    free_ -= bytes.size();
    used_ += bytes.size();
    return {at, bytes.size()};
  }
  void clear() noexcept {
    blocks_.clear();
    next_ = nullptr;
    free_ = used_ = 0;
  }
  /// Bytes kept now.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  static constexpr std::size_t block_bytes = 64U << 10U;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t free_ = 0;
  std::size_t used_ = 0;
};

}  // namespace splitcount::intake
