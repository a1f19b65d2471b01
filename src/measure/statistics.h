// Medians, spreads and percentiles of what was measured.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace splitcount::measure {

/// A median and the least and the most of some repeats.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
  friend bool operator==(const Spread&, const Spread&) = default;
};

/// Of an even number of values the median is the mean of the two in the middle; all 0 where there is none.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Each value by the one of the same round: what else the machine did hit both alike. A round whose other is 0 is left out.
[[nodiscard]] Spread ratio_of(std::span<const double> values, std::span<const double> others);

/// The smallest value that at least `share` of them (0 to 1) do not exceed; 0 where there is none. Reorders `values`.
[[nodiscard]] std::uint32_t percentile(std::vector<std::uint32_t>& values, double share);

}  // namespace splitcount::measure
