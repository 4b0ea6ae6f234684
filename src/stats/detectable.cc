#include "stats/detectable.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/numbers.h"
#include "stats/distributions.h"

namespace aaco::stats {
namespace {

constexpr double kLargestLog = 27.6;  // a factor of 1e12: two measurements of one thing never differ so much
constexpr double kFarTimes = 1000;    // printed as such: no measurement is this noisy and of use
constexpr double kNormalDegrees = 1e6;

// Mean of chi / sqrt(df) with so many degrees of freedom.
double mean_of_chi(double degrees) {
  if (degrees >= kNormalDegrees) return 1;
  return std::sqrt(2 / degrees) * std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2));
}

}  // namespace

double detectable_distance(const ChangeNoise& noise, double level, double power) {
  AACO_CHECK(level >= 0 && level < 1 && power > 0 && power < 1);
  if (noise.standard_error <= 0) return 0;
  const double degrees = std::min(noise.degrees_of_freedom, kNormalDegrees), c = mean_of_chi(degrees);
  const double t = student_t_quantile((1 + level) / 2, degrees);
  return noise.standard_error * (t + normal_quantile(power) * std::sqrt(1 + t * t * (1 - c * c)) / c);
}

Detectable smallest_detectable(const ChangeNoise& noise, const DecisionBar& bar) {
  AACO_CHECK(bar.threshold_ratio >= 0);
  const double beyond = detectable_distance(noise, bar.level, bar.power);
  const double least = bar.change_level > 0 ? detectable_distance(noise, bar.change_level, bar.power) : 0;
  const double up = std::max(std::log1p(bar.threshold_ratio) + beyond, least);
  Detectable found{std::expm1(std::min(up, kLargestLog)), 1};
  if (bar.threshold_ratio < 1) found.decrease_ratio = -std::expm1(std::min(std::log1p(-bar.threshold_ratio) - beyond, -least));
  return found;
}

std::string to_text(const Detectable& detectable) {
  const double times = detectable.increase_ratio + 1;
  std::string text = times > kFarTimes ? "above 1000 times" : core::format_signed_percent(detectable.increase_ratio);
  if (1 - detectable.decrease_ratio >= 1 / kFarTimes) text += " or " + core::format_signed_percent(-detectable.decrease_ratio);
  return text;
}

bool is_noisy(const Detectable& detectable, double threshold_ratio) { return detectable.increase_ratio > 3 * threshold_ratio; }

}  // namespace aaco::stats
