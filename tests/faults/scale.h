// How long the loops run, and where their chance comes from.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace splitcount::faults {

/// SPLITCOUNT_TEST_SHORT=1 (sanitizer builds) takes the first, SPLITCOUNT_TEST_LONG=1 the last.
[[nodiscard]] inline int scale(int quick, int usual, int full) {
  auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && std::string(value) != "0" && *value != '\0';
  };
  if (is_set("SPLITCOUNT_TEST_LONG")) return full;
  return is_set("SPLITCOUNT_TEST_SHORT") ? quick : usual;
}

/// A new seed, or SPLITCOUNT_TEST_SEED to run one again; printed, so that it can be.
[[nodiscard]] inline std::uint64_t seed() {
  const char* given = std::getenv("SPLITCOUNT_TEST_SEED");
  const std::uint64_t chosen = given != nullptr ? std::stoull(given) : std::random_device{}();
  std::cout << "SPLITCOUNT_TEST_SEED=" << chosen << "\n";
  return chosen;
}

[[nodiscard]] inline int random_between(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

}  // namespace splitcount::faults
