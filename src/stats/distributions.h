#pragma once

#include <cstdint>

namespace aaco::stats {

// The distributions that intervals and tests are made of. Arguments out of range are the caller's bug
// (AACO_CHECK).

double normal_cdf(double z);
double normal_quantile(double probability);             // 0 < probability < 1
inline constexpr double kNormal95 = 1.959963984540054;  // its 0.975 quantile: half of a 95 % interval

double student_t_cdf(double t, double degrees_of_freedom);
double student_t_quantile(double probability,
                          double degrees_of_freedom);  // degrees_of_freedom > 0, may be fractional

// P(X <= successes) for X ~ Binomial(trials, probability); 0 for successes < 0, 1 for successes >= trials.
double binomial_cdf(std::int64_t successes, std::int64_t trials, double probability);

}  // namespace aaco::stats
