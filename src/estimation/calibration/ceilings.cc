#include "estimation/calibration/ceilings.h"

#include <algorithm>
#include <vector>

#include "stats/summary.h"

namespace aaco::estimation {
namespace {

constexpr double kBest = 0.999, kShortest = 0.01;

double quantile(std::vector<double> values, double probability) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return stats::quantile_of_sorted(values, probability);
}

}  // namespace

Ceilings ceilings_of(std::span<const TimedRoofline> rows, const DeviceFacts& device) {
  std::vector<double> flops, bytes, cached, seconds;
  for (const TimedRoofline& row : rows) {
    flops.push_back(row.roof.flops / row.seconds);
    (row.roof.bytes <= device.cache_bytes ? cached : bytes).push_back(row.roof.bytes / row.seconds);
    seconds.push_back(row.seconds);
  }
  return {quantile(flops, kBest), quantile(bytes, kBest), quantile(cached, kBest), quantile(seconds, kShortest)};
}

}  // namespace aaco::estimation
