#pragma once

#include <optional>

#include "stats/correlated_fit.h"

namespace aaco::stats {

// What earlier segments say about the noise of the next one, for every rho: their residuals, counted as kMemory values at most.
struct NoiseMemory {
  PerCorrelation<double> rss{}, log_precision{};
  double count = 0;
  void absorb(const GrowingSegment& segment, double white_variance);
};

enum class FoundShape { step, step_on_slope, bend };

struct FoundChange {
  std::size_t place = 0;  // k of the first value after it
  FoundShape shape = FoundShape::step;
  double gain = 0;  // twice the log of how much better the change explains the segment than no change does
};

// The change that best explains the segment, where it beats a level, a line and a parabola with autocorrelated noise by the
// threshold, its place and shape are known, and the noise about it is not larger than the rest of the segment lets expect. Empty
// where there is none. `thorough`: all places, else only the last ones (earlier ones were looked at when they were the last).
std::optional<FoundChange> scan_for_change(const GrowingSegment& segment, const NoiseMemory& memory, double white_variance,
                                           bool thorough);

}  // namespace aaco::stats
