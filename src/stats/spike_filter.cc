#include "stats/spike_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "stats/robust.h"

namespace aaco::stats {
namespace {

constexpr double kFar = 4;              // mean differences of neighbours: 4.5 deviations of independent normal values
constexpr std::size_t kSide = 3;        // neighbours on each side
constexpr std::size_t kLearning = 8;    // differences whose median is the first scale
constexpr double kMeanOfMedian = 1.18;  // mean over median of normal values' absolute differences
constexpr double kLargest = 3;          // scales that a difference counts for at most
constexpr double kForgetting = 1.0 / 64;

// Of one to three values.
double middle(const std::array<double, kSide>& values, std::size_t count) {
  if (count == 1) return values[0];
  if (count == 2) return (values[0] + values[1]) / 2;
  return std::max(std::min(values[0], values[1]), std::min(std::max(values[0], values[1]), values[2]));
}

}  // namespace

SpikeFilter::SpikeFilter(std::span<const double> series)
    : values_(series.begin(), series.end()), series_(values_), scales_(series.size(), 0.0), resolutions_(series.size(), 0.0) {
  std::vector<double> first;
  double scale = 0, resolution = 0;
  for (std::size_t i = 1; i < series.size(); ++i) {
    const double difference = std::abs(series[i] - series[i - 1]);
    if (difference > 0 && (resolution == 0 || difference < resolution)) resolution = difference;
    if (i <= kLearning) {
      first.push_back(difference);
      scale = kMeanOfMedian * median(first);
    } else {
      const double counted = std::min(difference, kLargest * std::max(scale, resolution / 2));
      scale += (counted - scale) * std::max(1 / static_cast<double>(i), kForgetting);
    }
    scales_[i] = std::max(scale, resolution / 2);
    resolutions_[i] = resolution;
  }
}

double SpikeFilter::value(std::size_t i, std::size_t last) const {
  std::array<double, kSide> side{};
  std::size_t count = 0;
  std::optional<double> before, after;
  for (; count < std::min(kSide, i); ++count) side[count] = values_[i - 1 - count];
  if (count > 0) before = middle(side, count);
  for (count = 0; count < std::min(kSide, last - i); ++count) side[count] = series_[i + 1 + count];
  if (count > 0) after = middle(side, count);
  if (!before && !after) return series_[i];
  const double low = std::min(before ? *before : *after, after ? *after : *before);
  const double high = std::max(before ? *before : *after, after ? *after : *before);
  const double far = kFar * scales_[last];
  if (series_[i] < low - far) return low;
  return series_[i] > high + far ? high : series_[i];
}

}  // namespace aaco::stats
