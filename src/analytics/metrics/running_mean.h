#pragma once

#include <cstdint>
#include <optional>

#include "analytics/node_time.h"

namespace aaco::analytics::metrics {

// Adds one value an iteration; values that are not added count as 0.
class RunningMean {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
  }
  [[nodiscard]] double mean(std::int64_t iterations) const { return sum_ / static_cast<double>(iterations); }
  // The mean with Student's 95 % interval; the interval is empty for one iteration.
  [[nodiscard]] IterationTime estimate(std::int64_t iterations) const;

 private:
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace aaco::analytics::metrics
