// Random bits for picks and pauses.
#pragma once

#include <cstdint>
#include <random>

namespace splitcount::counter {

/// 64 bits from this thread's own generator, which random_device seeded. Not for secrets.
[[nodiscard]] inline std::uint64_t draw() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

}  // namespace splitcount::counter
