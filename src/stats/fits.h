#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "stats/summary.h"

namespace aaco::stats {

// The rows of a linear model, one after the other: `values` holds rows x `columns` numbers. A constant term is a column of ones.
struct Design {
  std::vector<double> values;
  std::size_t columns = 0;
  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

// Neither infinite nor not a number, every one.
bool all_finite(std::span<const double> values);

struct LinearFit {
  std::vector<double> coefficients;  // one a column
  std::vector<double>
      standard_errors;  // of the coefficients; empty where there are no more rows than columns, and for non-negative fits
  double residual_deviation = 0;          // root of the squares of the residuals over rows - columns (over rows where that is 0)
  std::optional<double> explained_ratio;  // R squared about the mean of the targets; empty where they are all equal
};

// Least squares by a rank-revealing QR. `weights` (of squares, positive) may be empty. Fails with invalid_argument where the
// numbers of rows differ or are fewer than columns, and with invalid_input on values that are not finite and on columns that
// depend on each other (they have no coefficients of their own).
core::Result<LinearFit> least_squares(const Design& design, std::span<const double> targets,
                                      std::span<const double> weights = {});

// The same with coefficients of at least 0 (Lawson and Hanson, Solving Least Squares Problems, chapter 23). Dependent columns are
// allowed: one of the best answers is given.
core::Result<LinearFit> non_negative_least_squares(const Design& design, std::span<const double> targets,
                                                   std::span<const double> weights = {});

// A line through points that a quarter of outliers does not move (Theil 1950, Sen 1968): the median of all slopes between points
// of different x, its interval by Kendall's statistic, and the median of what is left as the intercept. At most 3000 points (all
// slopes are formed); at least 2 different x. The interval is empty below 5 points.
struct RobustLine {
  double slope = 0;
  double intercept = 0;
  std::optional<Interval> slope_ci95;
};
core::Result<RobustLine> theil_sen(std::span<const double> x, std::span<const double> y);

// The non-decreasing series nearest to `values` by weighted squares (pool adjacent violators: Barlow et al., 1972). `weights`
// positive, or empty.
core::Result<std::vector<double>> isotonic(std::span<const double> values, std::span<const double> weights = {});

}  // namespace aaco::stats
