#include <algorithm>
#include <array>
#include <cmath>

#include "core/strings.h"
#include "estimation/calibrated.h"
#include "estimation/latency.h"
#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"
#include "estimation/roofline.h"

namespace aaco::estimation {
namespace {

// What is known of devices nobody measured: the part of the peaks that good kernels reach, the floor of a launch, and how far
// estimates so made were from measurements (docs/estimation.md).
constexpr double kReachedRatio = 0.6;
constexpr double kTheoreticalBelow = 2.0, kTheoreticalAbove = 3.0;

LatencyEstimate theoretical(const Roofline& roof, const DeviceFacts& device) {
  LatencyEstimate result;
  const double floor = nominal_floor_s(device);
  const double best = roof.seconds();
  result.seconds = best / kReachedRatio + floor;
  result.lower = std::max(best, result.seconds / kTheoreticalBelow);
  result.upper = result.seconds * kTheoreticalAbove;
  result.level = Level::theoretical;
  result.source = "specification";
  Explanation& why = result.explanation;
  why.compute_s = roof.compute_s;
  why.memory_s = roof.memory_s;
  why.floor_s = floor;
  why.tile_ratio = roof.tile_ratio;
  why.wave_ratio = roof.wave_ratio;
  why.efficiency_ratio = (best + floor) / result.seconds;
  why.limit = best < floor ? "floor" : roof.compute_s > roof.memory_s ? "compute" : "memory";
  why.method = "roofline of the published peaks, of which good kernels reach about 60 %, and a launch floor";
  return result;
}

constexpr std::array<std::string_view, 3> kLevels{"CALIBRATED", "INTERPOLATED", "THEORETICAL"};

constexpr double kOtherProgram = 0.4;  // of a logarithm, either way

// For what only a relative of the kernel was measured on: bounds wider by a factor and a time either way, never below the
// roofline, and the estimate in the middle of them.
void widen(const Roofline& roof, double factor, double floor_s, LatencyEstimate& estimate) {
  const double below = std::log(estimate.seconds / estimate.lower), above = std::log(estimate.upper / estimate.seconds);
  const double least = estimate.seconds * std::exp(-std::hypot(below, factor)) - floor_s;
  estimate.lower = std::min(estimate.lower, std::max(roof.seconds(), least));
  estimate.upper = estimate.seconds * std::exp(std::hypot(above, factor)) + floor_s;
  estimate.seconds = std::max(roof.seconds(), std::sqrt(estimate.lower * estimate.upper));
  estimate.level = Level::interpolated;
}

// Tables of attention hold causal runs alone. One whose queries see all keys does the rest of the pairs as well: it takes longer
// by the ratio of both rooflines. It is another program, too, that no measurement has tried this on.
core::Result<LatencyEstimate> carried_from_causal(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                                                  const CalibrationSet& calibrations, Level best) {
  Kernel causal = kernel;
  auto& shape = std::get<AttentionShape>(causal.shape);
  shape.causal = true;
  if (shape.past < 0) return theoretical(roof, device);  // no causal attention has fewer keys than queries
  AACO_ASSIGN(LatencyEstimate result, estimate(causal, device, &calibrations, best));
  if (result.level == Level::theoretical) return theoretical(roof, device);
  AACO_ASSIGN(const Roofline measured, roofline(causal, device));
  const double floor = nominal_floor_s(device), longer = (roof.seconds() + floor) / (measured.seconds() + floor);
  for (double* time : {&result.seconds, &result.lower, &result.upper}) *time *= longer;
  widen(roof, kOtherProgram, 0, result);
  Explanation& why = result.explanation;
  why.compute_s = roof.compute_s;
  why.memory_s = roof.memory_s;
  why.limit = roof.seconds() < floor ? "floor" : roof.compute_s > roof.memory_s ? "compute" : "memory";
  why.method += "; causal attention was measured, this one sees all pairs of tokens";
  return result;
}

}  // namespace

std::string_view to_string(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<Level> level_from_string(std::string_view text) {
  for (const Level level : {Level::calibrated, Level::interpolated, Level::theoretical})
    if (core::to_lower(to_string(level)) == core::to_lower(text)) return level;
  return std::nullopt;
}

void widen_for_another_type(std::string_view measured, std::string_view asked, const Roofline& roof, LatencyEstimate& estimate) {
  constexpr double kOtherFloorS = 70e-6;
  widen(roof, kOtherProgram, kOtherFloorS, estimate);
  estimate.explanation.method +=
      "; " + std::string(asked) + " was not measured, " + std::string(measured) + " was, whose kernels may be another program";
}

core::Result<LatencyEstimate> estimate(const Kernel& kernel, const DeviceFacts& device, const CalibrationSet* calibrations,
                                       Level best) {
  AACO_ASSIGN(const Roofline roof, roofline(kernel, device));
  const auto* attention = std::get_if<AttentionShape>(&kernel.shape);
  if (calibrations != nullptr && attention != nullptr && !attention->causal)
    return carried_from_causal(kernel, device, roof, *calibrations, best);
  if (calibrations != nullptr && best == Level::calibrated)
    if (const auto found = calibrations->find(device.id, kernel)) {
      AACO_ASSIGN(const LatencyModel* model, found->entry->with_trees(*found->model));
      LatencyEstimate own = calibrated(kernel, device, roof, *model);
      if (model->type != kernel.type) widen_for_another_type(model->type, kernel.type, roof, own);
      return own;
    }
  if (calibrations != nullptr && best != Level::theoretical) {
    AACO_ASSIGN(auto carried, interpolated(kernel, device, roof, *calibrations));
    if (carried) return *std::move(carried);
  }
  return theoretical(roof, device);
}

}  // namespace aaco::estimation
