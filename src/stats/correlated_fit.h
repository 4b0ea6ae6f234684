#pragma once

#include <array>

#include "stats/growing_segment.h"

namespace aaco::stats {

// Generalised least squares with first-order autocorrelated noise, for rho on a grid: values and regressors are prewhitened
// (z_k = y_k - rho y_{k-1}), after which sums decide (Prais and Winsten).
inline constexpr std::array<double, 8> kCorrelations = {0, 0.2, 0.4, 0.55, 0.7, 0.82, 0.91, 0.97};
template <class T>
using PerCorrelation = std::array<T, kCorrelations.size()>;

// A level, a line and a parabola fitted to a segment at one rho, by Gram-Schmidt on 1, k, k^2.
struct SmoothFit {
  double one_norm = 1, line_one = 0, line_norm = 1;  // of the prewhitened regressors: length; component along 1; what remains
  double z_one = 0, z_line = 0;                      // the values' components
  double level_rss = 0, line_rss = 0, parabola_rss = 0;
  double line_floor = 0;     // part of line_rss and parabola_rss that no model can explain
  double floor = 0;          // the same of all
  double log_precision = 0;  // of the level, less the log determinant of the noise: what restricted likelihood adds
};
// `white_variance`: of what the values are rounded to, which no model explains. Needs 4 values or more.
SmoothFit fit_smooth(const GrowingSegment& segment, double rho, double white_variance);

// What remains of a prewhitened regressor beside a fit, and how the values' remainder goes along it.
struct Projection {
  double norm2 = 0, along = 0;
  [[nodiscard]] double explained() const { return along * along / norm2; }
};
struct Projections {
  Projection beside_level, beside_line;
  double component_one = 0, component_line = 0;
};
// 1 from `place` on, 0 before. 1 <= place < size.
Projections project_step(const GrowingSegment& segment, const SmoothFit& fit, std::size_t place, double rho);
// k - place from there on, 0 before: a change of slope.
Projections project_bend(const GrowingSegment& segment, const SmoothFit& fit, std::size_t place, double rho);

// How many independent values n autocorrelated ones are worth, as log(1 + n (1 - rho) / (1 + rho)): the price of a parameter.
double log_effective_count(double n, double rho);

}  // namespace aaco::stats
