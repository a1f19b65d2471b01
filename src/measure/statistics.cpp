#include <measure/statistics.h>

#include <algorithm>
#include <cmath>

namespace splitcount::measure {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Spread ratio_of(std::span<const double> values, std::span<const double> others) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
    if (others[i] > 0) ratios.push_back(values[i] / others[i]);
  }
  return spread_of(std::move(ratios));
}

std::uint32_t percentile(std::vector<std::uint32_t>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace splitcount::measure
