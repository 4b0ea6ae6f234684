#include "analytics/metrics/running_mean.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"

namespace aaco::analytics::metrics {

IterationTime RunningMean::estimate(std::int64_t iterations) const {
  const double n = static_cast<double>(iterations);
  IterationTime result{mean(iterations), std::nullopt};
  if (iterations < 2) return result;
  const double variance = std::max(squares_ - n * result.mean_ns * result.mean_ns, 0.0) / (n - 1);
  const double half_width = stats::student_t_quantile(0.975, n - 1) * std::sqrt(variance / n);
  result.ci95 = trace::Interval{result.mean_ns - half_width, result.mean_ns + half_width};
  return result;
}

}  // namespace aaco::analytics::metrics
