// Adds by number: each number has its own request id, and a key and an amount that follow from it, so that any process
// can send an add again and knows what the total must be.
#pragma once

#include <cstdint>
#include <string>

#include <splitcount/splitcount.h>

namespace splitcount::faults {

inline constexpr std::int64_t numbered_keys = 5;

[[nodiscard]] inline std::string numbered_key(std::int64_t key) { return "key" + std::to_string(key); }
[[nodiscard]] inline std::int64_t numbered_amount(std::int64_t number) { return 1 + number % 7; }

class NumberedAdd {
 public:
  explicit NumberedAdd(std::int64_t number)
      : number_(number), key_(numbered_key(number % numbered_keys)), id_("id" + std::to_string(number)) {}
  [[nodiscard]] Add add() const { return {.key = key_, .amount = numbered_amount(number_), .request_id = id_}; }

 private:
  std::int64_t number_;
  std::string key_;
  std::string id_;
};

}  // namespace splitcount::faults
