#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/random.h"

namespace aaco::stats {

// What is resampled: the quantile of a series at a probability (type 7), or its mean where that is empty.
using StatisticChoice = std::optional<double>;

double statistic_of(std::span<const double> series, StatisticChoice choice);

// The block length with the least error for a series of this length and integrated autocorrelation time (Politis and White,
// Econometric Reviews 23, 2004, for a first-order autoregression); 1 for independent values.
std::int64_t block_length(std::int64_t count, double correlation_time);

// The statistic over `replicates` resamples of the series by circular blocks, so that correlation is kept. `series` is not empty.
std::vector<double> block_bootstrap(std::span<const double> series, StatisticChoice choice, std::int64_t replicates,
                                    core::Random& random);

// Sessions of one side of a comparison, as the logarithm of their statistic.
struct SideEstimate {
  double log_value = 0;            // mean of the sessions' logs: the log of their geometric mean
  std::vector<double> deviations;  // resampled log_value - log_value
  double variance = 0;             // of the deviations
  double degrees_of_freedom = 1;
  double effective_count = 0;   // what the iterations of all sessions are worth, independent ones (effective_sample_size())
  double between_variance = 0;  // of a session's log around log_value, what resampling within explains taken off
  bool between_known = false;
};

// Deviation between sessions from elsewhere, for a side of one session.
struct BetweenSessions {
  double variance = 0;  // of the log
  double degrees_of_freedom = 1;
};

// Resamples sessions, then blocks of iterations within them (Davison and Hinkley, Bootstrap Methods, section 3.8): the sessions'
// deviations are shrunk by what their own scatter within already explains, and stretched by sqrt(k / (k - 1)) for small numbers
// of sessions (Hesterberg, What Teachers Should Know about the Bootstrap, 2015). All statistics must be positive.
SideEstimate resample_side(std::span<const std::vector<double>> sessions, StatisticChoice choice, std::int64_t replicates,
                           const std::optional<BetweenSessions>& elsewhere, core::Random& random);

}  // namespace aaco::stats
