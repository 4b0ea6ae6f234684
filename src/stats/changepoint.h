#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace aaco::stats {

// A change of level: what comes from `index` on differs from what was before.
struct ChangePoint {
  std::int64_t index = 0;  // first value after the change
  double before = 0;       // median of the segment before it
  double after = 0;        // median of the segment after it
  double p_value = 1;  // rank test of the two segments, correlation allowed for; the place having been searched for, it flatters
  bool operator==(const ChangePoint&) const = default;
};

struct ChangeOptions {
  // Each change costs this many times log n long-run variances: between BIC's 2 and the 3 of the modified BIC (Zhang and
  // Siegmund, Biometrics 63, 2007). At 2.5 a series of 50 independent values or more without a change is cut in at most 1 % of
  // cases, of 12 in 9 %.
  double penalty_factor = 2.5;
  std::int64_t minimum_segment = 3;
};

// The changes of level of a series, whatever its distribution: least squares over normal scores of the ranks, the best of all
// segmentations by PELT (Killick, Fearnhead, Eckley, JASA 107, 2012), of which those changes stay that pay by their own two
// segments too. The long-run variance is the largest that robust differences of block means show for blocks of 1 to 6 values, so
// that correlation does not pass for change. Outliers weigh little and a single one makes no segment. Fewer than 2 x
// minimum_segment values have no change. Values must be finite (AACO_CHECK). Beyond 4096 values blocks of equal length are
// condensed to their medians first, and the places then sought value by value.
std::vector<ChangePoint> find_changes(std::span<const double> series, const ChangeOptions& options = {});

}  // namespace aaco::stats
