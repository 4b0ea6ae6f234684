#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace aaco::stats {

enum class ChangeShape {
  step,  // the level changes at once
  bend,  // the slope changes; the level goes on from where it was
};

// A change: what comes from `index` on differs from what was before.
struct ChangePoint {
  std::int64_t index = 0;  // first value after the change
  double before = 0;       // level just before it: median of the segment, or where a line through it ends if it slopes
  double after = 0;        // level just after it
  // Rank test of the two segments less their common slope, correlation allowed for; of a bend, what its gain in likelihood says.
  // The place having been searched for, it flatters.
  double p_value = 1;
  ChangeShape shape = ChangeShape::step;
  bool operator==(const ChangePoint&) const = default;
};

// The changes of level and slope of a series. The series is read from its start, as it came: the segment that has begun is held
// against a level, a line and a parabola, each with first-order autocorrelated noise (exact restricted likelihood over a grid of
// correlations), and a step, a step on a slope or a bend must explain it better by 4 + 3 log n + 8 rho^2 (stats/change_scan.h),
// a high step after few values by 3 less.
// What is found ends the segment and stays: a longer series has the same changes at the same places, unless a step is reversed
// within four values, which takes both back, or a repeating pattern (stats/season.h) becomes known, which is taken off first.
// Three values after a step are the fewest that show it, of six in all; a bend takes twelve. Single and double outliers are no
// change (stats/spike_filter.h). A series without a change has one reported in at most 5 % of cases for 50 to 1,000 values with
// autocorrelation up to 0.8. Values must be finite (AACO_CHECK). O(n log n); beyond 8192 values blocks of equal length are
// condensed to their medians first, and the places then sought value by value.
std::vector<ChangePoint> find_changes(std::span<const double> series);

}  // namespace aaco::stats
