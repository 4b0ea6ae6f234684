#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/summary.h"

namespace aaco::stats {

// A run of consecutive iterations, all with the instrument or all without.
struct ObservedBlock {
  bool with_instrument = false;
  std::vector<double> durations;
};

struct ObserverEffect {
  std::optional<double> effect_ratio;  // with / without - 1; positive: the instrument costs time
  std::optional<Interval> ci95;
  std::optional<double> half_width;
  std::int64_t pairs = 0;
  std::int64_t unpaired_blocks = 0;  // left out: no neighbour of the other kind, or no positive median
  bool decided = false;              // the interval is at most 2 x kObserverHalfWidth wide, or lies wholly beyond +- that
  std::string explanation;           // one sentence
};

inline constexpr double kObserverHalfWidth = 0.01;  // an effect is stated to within 1 %
inline constexpr std::int64_t kObserverFewestPairs = 3;

// What an instrument costs, from blocks in the order they ran, with and without it in turn (best as with, without, without, with,
// ...: then a linear drift cancels). Neighbouring blocks make a pair, so that what is slower than a pair cancels; a pair's effect
// is the log of the ratio of its medians. Pooled by Hodges and Lehmann's estimate with the signed-rank interval (Hollander and
// Wolfe, Nonparametric Statistical Methods, section 3), which a disturbed pair cannot pull away; below six pairs by mean and
// Student's t.
ObserverEffect observer_effect(std::span<const ObservedBlock> blocks);

}  // namespace aaco::stats
