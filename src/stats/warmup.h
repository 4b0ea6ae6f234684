#pragma once

#include <cstdint>
#include <span>

namespace aaco::stats {

struct WarmupVerdict {
  bool stationary = false;
  std::int64_t first_stationary = 0;  // index of the first value after warm-up
  double p_value = 1;                 // of the test that the last part still changes
};

// Whether the series has settled: a change-point and trend test over its tail. Pure; called again as the series grows.
// `minimum_tail` values must lie after the last change.
WarmupVerdict find_warmup_end(std::span<const double> series, std::int64_t minimum_tail = 8);

}  // namespace aaco::stats
