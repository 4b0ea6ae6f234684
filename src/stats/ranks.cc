#include "stats/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/distributions.h"

namespace aaco::stats {

std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t start = 0; start < order.size();) {
    std::size_t end = start;
    while (end < order.size() && values[order[end]] == values[order[start]]) ++end;
    const double rank = static_cast<double>(start + end + 1) / 2;  // the mean of start + 1 .. end
    for (std::size_t i = start; i < end; ++i) ranks[order[i]] = rank;
    start = end;
  }
  return ranks;
}

double rank_trend(std::span<const double> series) {
  if (series.size() < 3) return 0;
  const double centre = (static_cast<double>(series.size()) + 1) / 2;
  const std::vector<double> ranks = mid_ranks(series);
  double covariance = 0, rank_squares = 0, time_squares = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double time = static_cast<double>(i + 1) - centre;
    covariance += time * (ranks[i] - centre);
    rank_squares += (ranks[i] - centre) * (ranks[i] - centre);
    time_squares += time * time;
  }
  return rank_squares > 0 ? covariance / std::sqrt(rank_squares * time_squares) : 0;
}

double rank_trend_p_value(double correlation, double count) {
  if (count < 4) return 1;
  const double unexplained = 1 - correlation * correlation;
  if (unexplained <= 0) return 0;
  const double t = std::abs(correlation) * std::sqrt((count - 2) / unexplained);
  return 2 * student_t_cdf(-t, count - 2);
}

}  // namespace aaco::stats
