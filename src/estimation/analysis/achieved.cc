#include "estimation/analysis/achieved.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "estimation/analysis/footing.h"

namespace aaco::estimation {
namespace {

// A ceiling is what the best kernels reached, of which good ones reach this part.
constexpr double kUsualPart = 0.85;
// As of an estimate from specifications: what was measured is of other kernels.
constexpr double kAchievedBelow = 2.0, kAchievedAbove = 3.0;

// The logarithms of one ratio over devices.
struct LogMean {
  double sum = 0;
  int count = 0;
  void add(double value) {
    if (!(value > 0)) return;
    sum += std::log(value);
    ++count;
  }
  [[nodiscard]] double value() const { return count == 0 ? 0 : std::exp(sum / count); }
};

Achieved of_device(const CalibrationSet::Entry& entry, std::string_view type) {
  const DeviceFacts& device = entry.facts;
  Achieved result;
  const auto element = element_of(type);
  for (const LatencyModel& model : entry.calibration.latency) {
    if (model.quality.sites < CalibrationSet::kTestedSites) continue;
    // Links are no memory, and skewed routing reads fewer experts than it is taken to.
    if (model.kind == "collective" || model.kind == "experts") continue;
    const Ceilings& best = model.ceilings;
    if (device.memory_bytes_per_s > 0)
      result.memory_ratio = std::max(result.memory_ratio, std::min(1.0, best.bytes_per_s / device.memory_bytes_per_s));
    if (best.floor_s > 0) result.floor_s = result.floor_s > 0 ? std::min(result.floor_s, best.floor_s) : best.floor_s;
    const auto theirs = element_of(model.type);
    const auto peak = theirs ? device.flops_per_s.find(*theirs) : device.flops_per_s.end();
    if (theirs == element && peak != device.flops_per_s.end() && peak->second > 0)
      result.compute_ratio = std::max(result.compute_ratio, std::min(1.0, best.flops_per_s / peak->second));
  }
  return result;
}

}  // namespace

std::optional<Achieved> achieved_rates(const CalibrationSet& set, const DeviceFacts& device, std::string_view type) {
  for (const int distance : {0, 1, 2}) {  // the device, its architecture, its vendor
    LogMean compute, memory, floor;
    Achieved result;
    for (const auto& [id, entry] : set.entries()) {
      const bool same = id == device.id, alike = entry.facts.architecture == device.architecture;
      if (!same_class(entry.facts, device) || entry.facts.vendor != device.vendor || (same ? 0 : alike ? 1 : 2) != distance)
        continue;
      const Achieved one = of_device(entry, type);
      if (one.memory_ratio <= 0) continue;
      compute.add(one.compute_ratio);
      memory.add(one.memory_ratio);
      floor.add(one.floor_s);
      result.source += (result.source.empty() ? "" : " and ") + id;
    }
    if (memory.count == 0) continue;
    result.compute_ratio = compute.value();
    result.memory_ratio = memory.value();
    result.floor_s = floor.value();
    return result;
  }
  return std::nullopt;
}

LatencyEstimate achieved_estimate(const LatencyEstimate& theoretical, const Mapping& mapping, const Achieved& achieved) {
  LatencyEstimate result = theoretical;
  Explanation& why = result.explanation;
  constexpr double kReached = 0.75;  // of the published rate, where nobody measured the type
  const double compute_ratio = achieved.compute_ratio > 0 ? kUsualPart * achieved.compute_ratio : kReached;
  // What a cache feeds is not what was measured of the memory.
  const double memory_ratio = mapping.level == "memory" ? kUsualPart * achieved.memory_ratio : kReached;
  if (achieved.floor_s > 0) why.floor_s = achieved.floor_s;
  const double compute = why.compute_s / (mapping.compute_ratio() * compute_ratio), memory = why.memory_s / memory_ratio;
  const double best = std::max(why.compute_s, why.memory_s);
  result.seconds = std::max(compute, memory) + why.floor_s;
  // A cache without a published bandwidth may feed it faster than the memory.
  const double fed = mapping.most_bytes_per_s > 0 ? why.memory_s * mapping.bytes_per_s / mapping.most_bytes_per_s : why.memory_s;
  result.lower = std::max({why.compute_s, fed, result.seconds / kAchievedBelow});
  result.upper = result.seconds * kAchievedAbove;
  result.level = Level::interpolated;
  result.source = std::string(kAchievedRates) + achieved.source;
  why.efficiency_ratio = std::min(1.0, (best + why.floor_s) / result.seconds);
  why.limit = std::max(compute, memory) < why.floor_s ? "floor" : compute > memory ? "compute" : "memory";
  why.method = "no measurements of this kind of kernel: published rates times what measured kernels of " + achieved.source +
               " reached of them, reduced by tile and wave efficiency";
  return result;
}

}  // namespace aaco::estimation
