#include "estimation/latency/predict.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "estimation/latency/features.h"

namespace aaco::estimation {

double mean_of(const std::vector<stats::BoostedTrees>& trees, std::span<const float> row) {
  AACO_CHECK(!trees.empty());
  double sum = 0;
  for (const stats::BoostedTrees& tree : trees) sum += tree.predict(row);
  return sum / static_cast<double>(trees.size());
}

double least_seconds(const Ceilings& ceilings, const Roofline& roof, const DeviceFacts& device) {
  double least = ceilings.flops_per_s > 0 ? roof.flops / ceilings.flops_per_s : 0;
  const double bandwidth = roof.bytes <= device.cache_bytes ? ceilings.cached_bytes_per_s : ceilings.bytes_per_s;
  if (bandwidth > 0) least = std::max(least, roof.bytes / bandwidth);
  return least;
}

double explained_ratio(const Explanation& why, double seconds) {
  return std::min(1.0, (std::max(why.compute_s, why.memory_s) + why.floor_s) / seconds);
}

LatencyEstimate calibrated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model) {
  const std::vector<float> row = features_of(kernel, device, roof, model.operators);
  const double nominal = roof.seconds() + nominal_floor_s(device);
  // The best of one or two sites is no ceiling.
  const bool tested = model.quality.sites >= CalibrationSet::kTestedSites;
  const double least = tested ? std::max(least_seconds(model.ceilings, roof, device), model.ceilings.floor_s) : 0;
  LatencyEstimate result;
  result.seconds = std::max(least, nominal * std::exp(mean_of(model.trees, row)));
  const double scale = model.bounds.log_scale.empty() ? 1 : std::exp(model.bounds.log_scale.predict(row));
  const double lowest = model.bounds.below_ceilings ? 0 : least;
  result.lower = std::min(result.seconds, std::max(lowest, result.seconds * std::exp(scale * model.bounds.low)));
  if (!tested) result.lower = std::min(result.lower, std::max(roof.seconds(), nominal / 2));  // others may be tuned better
  result.upper = std::max(result.seconds, result.seconds * std::exp(scale * model.bounds.high));
  result.level = Level::calibrated;
  result.source = device.id;
  Explanation& why = result.explanation;
  const Ceilings& best = model.ceilings;
  why.compute_s = best.flops_per_s > 0 ? roof.flops / best.flops_per_s : roof.compute_s;
  const double bandwidth = roof.bytes <= device.cache_bytes ? best.cached_bytes_per_s : best.bytes_per_s;
  why.memory_s = bandwidth > 0 ? roof.bytes / bandwidth : roof.memory_s;
  why.floor_s = best.floor_s;
  why.tile_ratio = roof.tile_ratio;
  why.wave_ratio = roof.wave_ratio;
  const double attainable = std::max(why.compute_s, why.memory_s);
  why.efficiency_ratio = explained_ratio(why, result.seconds);
  why.limit = attainable < why.floor_s ? "floor" : why.compute_s > why.memory_s ? "compute" : "memory";
  why.method = "trees over the roofline of " + model.kind + " " + model.type + ", fitted to " +
               std::to_string(model.quality.rows) + " measurements of " + std::to_string(model.quality.sites) + " sites";
  return result;
}

}  // namespace aaco::estimation
