#include "stats/distributions.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "core/check.h"

namespace aaco::stats {

double normal_cdf(double z) { return boost::math::cdf(boost::math::normal(), z); }

double normal_quantile(double probability) {
  AACO_CHECK(probability > 0 && probability < 1);
  return boost::math::quantile(boost::math::normal(), probability);
}

double student_t_cdf(double t, double degrees_of_freedom) {
  AACO_CHECK(degrees_of_freedom > 0);
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), t);
}

double student_t_quantile(double probability, double degrees_of_freedom) {
  AACO_CHECK(probability > 0 && probability < 1 && degrees_of_freedom > 0);
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

double binomial_cdf(std::int64_t successes, std::int64_t trials, double probability) {
  AACO_CHECK(trials > 0 && probability >= 0 && probability <= 1);
  if (successes < 0) return 0;
  if (successes >= trials) return 1;
  const boost::math::binomial_distribution<> binomial(static_cast<double>(trials), probability);
  return boost::math::cdf(binomial, static_cast<double>(successes));
}

}  // namespace aaco::stats
