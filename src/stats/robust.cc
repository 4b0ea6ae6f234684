#include "stats/robust.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"

namespace aaco::stats {
namespace {

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

double median(std::span<const double> values) {
  AACO_CHECK(!values.empty());
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

double robust_deviation(std::span<const double> values) {
  AACO_CHECK(!values.empty());
  std::vector<double> copy(values.begin(), values.end());
  const double centre = median_in_place(copy);
  for (double& value : copy) value = std::abs(value - centre);
  constexpr double kNormalConsistency = 1.4826;  // 1 / normal_quantile(3/4)
  return kNormalConsistency * median_in_place(copy);
}

}  // namespace aaco::stats
