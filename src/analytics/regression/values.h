#pragma once

#include "analytics/regression.h"

namespace aaco::analytics::regression {

// Compares sides that have one value a session: several values a side by Student's t on their logs, one value a side by the
// intervals they came with, exact counts as they are.
void compare_values(const MetricInput& metric, const Options& options, MetricResult& result);

// Fills interval, shares, p value, smallest detectable changes and verdict from a log change with its standard error.
struct LogChange {
  double change = 0;
  double standard_error = 0;
  double degrees_of_freedom = 1;
};
void judge_change(const LogChange& change, const MetricInput& metric, const Options& options, MetricResult& result);

}  // namespace aaco::analytics::regression
