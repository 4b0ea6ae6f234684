#include "analytics/trend/stretch.h"

#include <algorithm>
#include <cmath>

#include "stats/autocorrelation.h"
#include "stats/fits.h"
#include "stats/robust.h"

namespace aaco::analytics::trend {
namespace {

constexpr double kNsPerDay = 86'400e9;
constexpr std::size_t kMaxPoints = 2000;  // of a line: all slopes between them are formed
constexpr double kNormalConsistency = 1.4826;
constexpr double kLineGain = 2;   // BIC by which it must beat any single step to be called a drift: positive evidence
constexpr double kSlopeGain = 6;  // BIC by which a slope must beat steps: strong evidence (Kass and Raftery, JASA 90, 1995)

double spread(std::vector<double> residuals) {
  for (double& value : residuals) value = std::abs(value);
  return kNormalConsistency * stats::median(residuals);
}

std::vector<double> line_residuals(const Line& line, const std::vector<double>& x, const std::vector<double>& values,
                                   std::size_t start) {
  std::vector<double> residuals;
  for (std::size_t i = start; i < values.size(); ++i) residuals.push_back(values[i] - line.intercept - line.slope * x[i]);
  return residuals;
}

// Correlated observations are worth fewer: the interval grows by the root of how many times fewer.
void widen(double times, Line& line) {
  const double factor = std::sqrt(std::max(1.0, times));
  line.slope_ci95->low = line.slope - factor * (line.slope - line.slope_ci95->low);
  line.slope_ci95->high = line.slope + factor * (line.slope_ci95->high - line.slope);
}

std::vector<double> step_residuals(const std::vector<double>& values, const std::vector<std::size_t>& bounds) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(bounds[i]),
                                   values.begin() + static_cast<std::ptrdiff_t>(bounds[i + 1]));
    const double level = stats::median(part);
    for (const double value : part) residuals.push_back(value - level);
  }
  return residuals;
}

// Of the mean distance, which counts a step near the end as well: the median distance does not see few values.
double information(const std::vector<double>& residuals, double floor, double parameters) {
  const auto n = static_cast<double>(residuals.size());
  double sum = 0;
  for (const double value : residuals) sum += std::abs(value);
  return 2 * n * std::log(std::max(sum / n, floor)) + parameters * std::log(n);
}

// The correlation of neighbours of what a line leaves, without the bias of few values (Kendall, Biometrika 41, 1954, for a line).
double neighbours_correlation(const std::vector<double>& residuals) {
  double product = 0, square = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    square += residuals[i] * residuals[i];
    if (i > 0) product += residuals[i] * residuals[i - 1];
  }
  if (!(square > 0)) return 0;
  constexpr double kMax = 0.95;
  const double seen = product / square;
  return std::clamp(seen + (2 + 4 * seen) / static_cast<double>(residuals.size()), 0.0, kMax);
}

}  // namespace

Places places_of(const std::vector<Observation>& series) {
  Places places;
  places.in_days = std::all_of(series.begin(), series.end(), [](const Observation& one) { return one.time_ns.has_value(); });
  for (std::size_t i = 1; i < series.size() && places.in_days; ++i) places.in_days = *series[i].time_ns >= *series[i - 1].time_ns;
  if (places.in_days) places.in_days = static_cast<double>(*series.back().time_ns - *series.front().time_ns) >= kNsPerDay / 24;
  for (std::size_t i = 0; i < series.size(); ++i)
    places.x.push_back(places.in_days ? static_cast<double>(*series[i].time_ns - *series.front().time_ns) / kNsPerDay
                                      : static_cast<double>(i));
  return places;
}

std::optional<Line> line_through(const std::vector<double>& x, const std::vector<double>& values, std::size_t start) {
  start = std::max(start, values.size() > kMaxPoints ? values.size() - kMaxPoints : 0);
  const auto from = static_cast<std::ptrdiff_t>(start);
  const auto fit =
      stats::theil_sen(std::vector<double>(x.begin() + from, x.end()), std::vector<double>(values.begin() + from, values.end()));
  if (!fit) return std::nullopt;
  Line line{fit->slope, fit->intercept, fit->slope_ci95, 0, {}};
  std::vector<double> residuals = line_residuals(line, x, values, start);
  line.residual_deviation = spread(residuals);
  if (line.slope_ci95) {
    const double rho = neighbours_correlation(residuals);
    widen(std::max(static_cast<double>(residuals.size()) / stats::effective_sample_size(residuals), (1 + rho) / (1 - rho)), line);
  }
  if (line.intercept + line.slope * x[start] <= 0 || line.intercept + line.slope * x.back() <= 0) return line;
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] /= line.intercept + line.slope * x[start + i];
  line.residual_ratio = spread(std::move(residuals));
  return line;
}

std::size_t stretch_start(const std::vector<double>& x, const std::vector<double>& values,
                          const std::vector<stats::ChangePoint>& steps) {
  if (steps.empty()) return 0;
  const double floor = 1e-9 * std::abs(stats::median(values));
  std::size_t best = static_cast<std::size_t>(steps.back().index);
  std::vector<std::size_t> bounds{values.size()};
  for (std::size_t i = steps.size(); i-- > 0;) {
    bounds.insert(bounds.begin(), static_cast<std::size_t>(steps[i].index));
    const std::size_t start = i == 0 ? 0 : static_cast<std::size_t>(steps[i - 1].index);
    std::vector<std::size_t> pieces = bounds;
    pieces.insert(pieces.begin(), start);
    const auto line = line_through(x, values, start);
    if (!line || values.size() - start > kMaxPoints) break;
    // A step costs its level and its place.
    const double of_steps = information(step_residuals(values, pieces), floor, 2 * static_cast<double>(pieces.size()) - 3);
    const double of_line = information(line_residuals(*line, x, values, start), floor, 2);
    if (of_line + kSlopeGain < of_steps) best = start;
  }
  return best;
}

bool rather_a_line(const Line& line, const std::vector<double>& x, const std::vector<double>& values, std::size_t start) {
  constexpr std::size_t kMinPiece = 2, kMaxPlaces = 64;
  if (values.size() < start + 2 * kMinPiece) return false;
  const double floor = 1e-9 * std::abs(stats::median(values));
  const double of_line = information(line_residuals(line, x, values, start), floor, 2);
  const std::size_t stride = 1 + (values.size() - start) / kMaxPlaces;
  for (std::size_t at = start + kMinPiece; at + kMinPiece <= values.size(); at += stride)
    if (information(step_residuals(values, {start, at, values.size()}), floor, 3) < of_line + kLineGain) return false;
  return true;
}

}  // namespace aaco::analytics::trend
