#include "report/extent.h"

#include <algorithm>
#include <cmath>

namespace aaco::report {

std::optional<Extent> extent_of(const std::vector<double>& values) {
  std::optional<Extent> out;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (!out) out = Extent{value, value};
    out->low = std::min(out->low, value);
    out->high = std::max(out->high, value);
  }
  return out;
}

Extent padded(Extent extent, double share) {
  double span = extent.high - extent.low;
  if (span <= 0) span = extent.high != 0 ? std::abs(extent.high) * 0.1 : 1;
  Extent out{extent.low - span * share, extent.high + span * share};
  if (extent.low >= 0) out.low = std::max(out.low, 0.0);  // what is never negative has no axis below zero
  if (extent.high <= 0 && extent.low < 0) out.high = std::min(out.high, 0.0);
  return out;
}

}  // namespace aaco::report
