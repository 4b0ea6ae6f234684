#include "estimation/calibration/ceilings.h"

#include <algorithm>
#include <vector>

#include "estimation/latency/features.h"
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
  const double nominal_floor = nominal_floor_s(device);
  double shortest = nominal_floor;
  std::vector<double> flops, bytes, cached, idle;
  for (const TimedRoofline& row : rows) {
    // What a side reaches shows where it is the longer one: products of few rows tell nothing of computing, large ones little of
    // the memory.
    if (row.roof.compute_s >= row.roof.memory_s) flops.push_back(row.roof.flops / row.seconds);
    if (row.roof.memory_s >= row.roof.compute_s)
      (row.roof.bytes <= device.cache_bytes ? cached : bytes).push_back(row.roof.bytes / row.seconds);
    if (row.roof.seconds() <= nominal_floor) idle.push_back(row.seconds);
    shortest = std::min(shortest, row.seconds);
  }
  return {quantile(flops, kBest), quantile(bytes, kBest), quantile(cached, kBest),
          idle.empty() ? shortest : quantile(idle, kShortest)};
}

}  // namespace aaco::estimation
