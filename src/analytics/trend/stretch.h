#pragma once

#include "analytics/trend.h"
#include "stats/changepoint.h"

namespace aaco::analytics::trend {

// Where each observation lies in time: days since the first one, or its number where a time is missing or none advances.
struct Places {
  std::vector<double> x;
  bool in_days = false;
};
Places places_of(const std::vector<Observation>& series);

// The first observation of the stretch that a line through the end of the series is to be laid: after the last step, or earlier
// where a slope explains the last steps better than they do (by BIC on the mean distance).
std::size_t stretch_start(const std::vector<double>& x, const std::vector<double>& values,
                          const std::vector<stats::ChangePoint>& steps);

struct Line {
  double slope = 0, intercept = 0;
  std::optional<stats::Interval> slope_ci95;
  double residual_deviation = 0;         // robust
  std::optional<double> residual_ratio;  // the same of residuals over the line, where that is above 0 throughout
};
// Through the observations from `start` on; empty where they do not make a line.
std::optional<Line> line_through(const std::vector<double>& x, const std::vector<double>& values, std::size_t start);

// Whether `line`, of line_through(x, values, start), explains the observations better than one step at any of up to 64 places
// does (BIC). False where there are fewer than four.
bool rather_a_line(const Line& line, const std::vector<double>& x, const std::vector<double>& values, std::size_t start);

}  // namespace aaco::analytics::trend
