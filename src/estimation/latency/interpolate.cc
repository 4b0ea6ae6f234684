#include <algorithm>
#include <cmath>

#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"

namespace aaco::estimation {
namespace {

// How far carried estimates may be from measurements beyond what the lender's own error brings: half a 90 % interval of the
// logarithm. Much of the lender's error is its own noise, which its mean does not carry over: a part of its bound counts. Chosen
// with one device left out at a time, H100 and H200 from each other and A100 and H100 from each other (docs/results.md); kOther
// by judgement.
constexpr double kSameArchitecture = 0.163, kSameVendor = 0.42, kOther = 1.0, kLendersPart = 0.3;

// Compute and memory overlap but for where they are alike, and a launch takes about so long: a roofline without a corner.
double smooth_seconds(const Roofline& roof, const DeviceFacts& device) {
  constexpr double kSharpness = 4;
  const double launch_s = device.is_cpu ? 0.5e-6 : 1.5e-6;
  return std::pow(std::pow(roof.compute_s, kSharpness) + std::pow(roof.memory_s, kSharpness), 1 / kSharpness) + launch_s;
}

struct Lender {
  const CalibrationSet::Entry* entry;
  const LatencyModel* model;
  Roofline roof;
  double distance = 0;  // of the ceilings, in logarithms
};

double closeness(const DeviceFacts& a, const DeviceFacts& b) {
  if (a.architecture == b.architecture) return 0;
  return a.vendor == b.vendor ? 1 : 2;
}

std::vector<Lender> lenders_of(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const CalibrationSet& set) {
  std::vector<Lender> found;
  double nearest = 3;
  for (const auto& [id, entry] : set.entries()) {
    const auto& allowed = set.lenders();
    if (id == device.id || (!allowed.empty() && std::find(allowed.begin(), allowed.end(), id) == allowed.end())) continue;
    const auto model = set.find(id, kernel);
    if (!model || entry.facts.is_cpu != device.is_cpu) continue;
    const auto theirs = roofline(kernel, entry.facts);
    if (!theirs) continue;
    const double close = closeness(device, entry.facts);
    if (close > nearest) continue;
    if (close < nearest) found.clear();
    nearest = close;
    found.push_back(
        {&entry, model->model, *theirs,
         std::abs(std::log(theirs->compute_s / roof.compute_s)) + std::abs(std::log(theirs->memory_s / roof.memory_s))});
  }
  return found;
}

Ceilings carried(const Ceilings& ceilings, const Roofline& theirs, const Roofline& ours) {
  Ceilings result = ceilings;
  result.flops_per_s *= theirs.compute_s / ours.compute_s;
  result.bytes_per_s *= theirs.memory_s / ours.memory_s;
  result.cached_bytes_per_s = 0;  // caches do not scale with memory
  return result;
}

}  // namespace

core::Result<std::optional<LatencyEstimate>> interpolated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                                                          const CalibrationSet& set) {
  const std::vector<Lender> lenders = lenders_of(kernel, device, roof, set);
  if (lenders.empty()) return std::optional<LatencyEstimate>();
  double weights = 0, log_seconds = 0, below = 0, above = 0, least = 0;
  LatencyEstimate result;
  for (const Lender& lender : lenders) {
    AACO_ASSIGN(const LatencyModel* model, lender.entry->with_trees(*lender.model));
    const LatencyEstimate theirs = calibrated(kernel, lender.entry->facts, lender.roof, *model);
    constexpr double kNear = 0.1;
    const double weight = 1 / (kNear + lender.distance * lender.distance);
    const double ratio = smooth_seconds(roof, device) / smooth_seconds(lender.roof, lender.entry->facts);
    weights += weight;
    log_seconds += weight * std::log(theirs.seconds * ratio);
    below += weight * std::log(theirs.seconds / theirs.lower);
    above += weight * std::log(theirs.upper / theirs.seconds);
    least += weight * least_seconds(carried(lender.model->ceilings, lender.roof, roof), roof, device);
    if (!result.source.empty()) result.source += ", ";
    result.source += lender.entry->calibration.device;
    if (result.explanation.method.empty()) result.explanation = theirs.explanation;
  }
  const double close = closeness(device, lenders.front().entry->facts);
  const double carry = close == 0 ? kSameArchitecture : close == 1 ? kSameVendor : kOther;
  result.seconds = std::max(std::exp(log_seconds / weights), least / weights);
  result.lower = std::min(
      result.seconds, std::max(least / weights, result.seconds * std::exp(-std::hypot(kLendersPart * below / weights, carry))));
  result.upper = result.seconds * std::exp(std::hypot(kLendersPart * above / weights, carry));
  result.level = Level::interpolated;
  Explanation& why = result.explanation;
  why.compute_s = roof.compute_s;
  why.memory_s = roof.memory_s;
  why.tile_ratio = roof.tile_ratio;
  why.wave_ratio = roof.wave_ratio;
  why.efficiency_ratio = (roof.seconds() + why.floor_s) / result.seconds;
  why.limit = roof.seconds() < why.floor_s ? "floor" : roof.compute_s > roof.memory_s ? "compute" : "memory";
  why.method = std::string("carried over from ") + result.source +
               (close == 0   ? " of the same architecture"
                : close == 1 ? " of another architecture of the vendor"
                             : " of another vendor") +
               " by the ratio of the rooflines";
  return std::optional(std::move(result));
}

}  // namespace aaco::estimation
