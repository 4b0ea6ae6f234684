#pragma once

#include <cstdint>
#include <span>

namespace aaco::stats {

// What counts as a change while warming up. A shift must be seen by a test and matter: it must exceed both
// shares below.
inline constexpr double kWarmupLevel = 0.05;          // significance of the trend test over the last part
inline constexpr double kWarmupMaterialRatio = 0.01;  // of the settled median
inline constexpr double kWarmupMaterialNoise = 0.5;   // of the settled part's robust standard deviation (1.4826 MAD)

struct WarmupVerdict {
  bool stationary = false;
  std::int64_t first_stationary = 0;  // index of the first value after warm-up, as far as the series tells
  double p_value = 1;                 // of the test that the last part still changes; small: it does
};

// Whether the series has settled. Change points (find_changes) cut it into segments; the settled part is the longest run of last
// segments whose medians agree with the last one's; what leads it outside Tukey's fence is dropped too. It must hold
// `minimum_tail` values, and its recent part must be free of a material trend (Spearman's rank correlation with time). A few
// outliers move none of this, and a drift too slow for minimum_tail values to show does not prolong the warm-up. Pure; called
// again as the series grows; looks at the last 4096 values at most. The bound on iterations is the caller's.
WarmupVerdict find_warmup_end(std::span<const double> series, std::int64_t minimum_tail = 8);

}  // namespace aaco::stats
