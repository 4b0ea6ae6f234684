#include "stats/multiple.h"

#include <algorithm>
#include <numeric>

namespace aaco::stats {
namespace {

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return values[x] < values[y]; });
  return order;
}

}  // namespace

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  const auto order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double left = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg_adjusted(std::span<const double> p_values) {
  const auto order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const double rank = static_cast<double>(i + 1);
    least = std::min(least, p_values[order[i]] * static_cast<double>(order.size()) / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace aaco::stats
