#include "stats/correlated_fit.h"

#include <algorithm>
#include <cmath>

namespace aaco::stats {
namespace {

// A line is no better than this share of the height it spans: nothing real follows one more closely, and gentle curvature is no
// change. Chosen on generated series (docs/methodology.md).
constexpr double kLineAccuracy = 0.01;
constexpr double kRoundedNorm2 = 1e-12;

double squares_below(double n) { return n * (n + 1) * (2 * n + 1) / 6; }  // 1 + 4 + ... + n^2

Projections projected(const SmoothFit& fit, double with_one, double with_line, double norm2, double with_values) {
  Projections result;
  result.component_one = with_one / fit.one_norm;
  result.component_line = (with_line - fit.line_one * result.component_one) / fit.line_norm;
  result.beside_level = {norm2 - result.component_one * result.component_one, with_values - result.component_one * fit.z_one};
  result.beside_line = {result.beside_level.norm2 - result.component_line * result.component_line,
                        result.beside_level.along - result.component_line * fit.z_line};
  return result;
}

}  // namespace

SmoothFit fit_smooth(const GrowingSegment& segment, double rho, double white_variance) {
  SmoothFit fit;
  const auto m = static_cast<double>(segment.size());
  const double n = m - 1, c = 1 - rho, start = 1 - rho * rho;
  const double s1 = n * (n + 1) / 2, s2 = squares_below(n), s3 = s1 * s1;
  const double s4 = s2 * (3 * n * n + 3 * n - 1) / 5;
  // Prewhitened for k >= 1: 1 -> c; k -> c k + rho; k^2 -> c k^2 + 2 rho k - rho. For k = 0 only 1 is not 0.
  const double one_one = start + n * c * c;
  const double line_one = c * (c * s1 + rho * n), line_line = c * c * s2 + 2 * c * rho * s1 + n * rho * rho;
  const double square = c * s2 + 2 * rho * s1 - rho * n;  // sum of the prewhitened k^2
  const double parabola_one = c * square;
  const double parabola_line = c * (c * s3 + 2 * rho * s2 - rho * s1) + rho * square;
  const double parabola_parabola =
      c * c * s4 + 4 * rho * rho * s2 + rho * rho * n + 4 * c * rho * s3 - 2 * c * rho * s2 - 4 * rho * rho * s1;

  fit.one_norm = std::sqrt(one_one);
  fit.line_one = line_one / fit.one_norm;
  fit.line_norm = std::sqrt(std::max(line_line - fit.line_one * fit.line_one, kRoundedNorm2));
  const double q_one = parabola_one / fit.one_norm;
  const double q_line = (parabola_line - q_one * fit.line_one) / fit.line_norm;
  const double q_norm = std::sqrt(std::max(parabola_parabola - q_one * q_one - q_line * q_line, kRoundedNorm2));

  const double z0 = segment.sum(1, rho), z1 = segment.sum_k(1, rho), z2 = segment.sum_kk(1, rho);
  fit.z_one = c * z0 / fit.one_norm;  // the first value is 0
  fit.z_line = (c * z1 + rho * z0 - fit.line_one * fit.z_one) / fit.line_norm;
  const double z_parabola = (c * z2 + 2 * rho * z1 - rho * z0 - q_one * fit.z_one - q_line * fit.z_line) / q_norm;

  const double height = kLineAccuracy * fit.z_line / fit.line_norm * m;
  fit.floor = m * white_variance * (1 + rho * rho);
  fit.line_floor = fit.floor + m * height * height * start;
  const double level = std::max(segment.squares(rho) - fit.z_one * fit.z_one, 0.0);
  const double line = std::max(level - fit.z_line * fit.z_line, 0.0);
  fit.level_rss = level + fit.floor;
  fit.line_rss = line + fit.line_floor;
  fit.parabola_rss = std::max(line - z_parabola * z_parabola, 0.0) + fit.line_floor;
  fit.log_precision = std::log(one_one) - std::log(start);
  return fit;
}

Projections project_step(const GrowingSegment& segment, const SmoothFit& fit, std::size_t place, double rho) {
  const auto t = static_cast<double>(place), c = 1 - rho;
  const double after = static_cast<double>(segment.size() - 1 - place);  // values beyond the first of the new level
  const double z = segment[place] - rho * segment[place - 1];
  const double sum_line = c * (after * (after + 1) / 2 + after * t) + rho * after;
  return projected(fit, c + c * c * after, (c * t + rho) + c * sum_line, 1 + c * c * after,
                   c * segment.sum(place, rho) + rho * z);
}

Projections project_bend(const GrowingSegment& segment, const SmoothFit& fit, std::size_t place, double rho) {
  const auto t = static_cast<double>(place), c = 1 - rho;
  const double after = static_cast<double>(segment.size() - 1 - place);
  const double s1 = after * (after + 1) / 2, s2 = squares_below(after);
  const double z0 = segment.sum(place + 1, rho), z1 = segment.sum_k(place + 1, rho);
  const double with_one = c * (c * s1 + rho * after);
  const double with_line = c * (c * (s2 + t * s1) + rho * s1) + rho * (c * (s1 + t * after) + rho * after);
  return projected(fit, with_one, with_line, c * c * s2 + 2 * c * rho * s1 + rho * rho * after, c * (z1 - t * z0) + rho * z0);
}

double log_effective_count(double n, double rho) { return std::log1p(n * (1 - rho) / (1 + rho)); }

}  // namespace aaco::stats
