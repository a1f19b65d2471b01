// What this program ran on, for a report.
#pragma once

#include <cstdint>
#include <string>

namespace splitcount::measure {

struct Machine {
  std::string system;           ///< "Linux 6.1.0"
  std::string processor;        ///< its model, as the system names it; empty: not told
  int processors = 0;           ///< that this program may use
  std::int64_t memory_bytes = 0;
};

[[nodiscard]] Machine this_machine();

}  // namespace splitcount::measure
