#include <algorithm>
#include <cmath>

#include "estimation/calibrated.h"
#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"

namespace aaco::estimation {
namespace {

// A fit of vector operators knows those that its measurements were of.
bool knows(const CalibrationSet::Entry& entry, const Kernel& kernel) {
  const auto* vector = std::get_if<VectorShape>(&kernel.shape);
  if (vector == nullptr) return true;
  const auto& models = entry.calibration.latency;
  return std::any_of(models.begin(), models.end(), [&](const LatencyModel& model) {
    const auto& operators = model.operators;
    return model.kind == kind_of(kernel) && model.type == kernel.type &&
           std::find(operators.begin(), operators.end(), vector->op) != operators.end();
  });
}

// The three parts of `factor` times their sum: static power is what flows whatever the kernel does, so computing and moving take
// the difference; a sum below it is static power alone.
EnergyParts parted(double factor, const EnergyParts& fitted) {
  const double joules = factor * fitted.joules(), working = fitted.compute_joules + fitted.movement_joules;
  if (joules <= fitted.static_joules || working <= 0) return {0, 0, joules};
  const double share = (joules - fitted.static_joules) / working;
  return {share * fitted.compute_joules, share * fitted.movement_joules, fitted.static_joules};
}

}  // namespace

core::Result<EnergyEstimate> energy_of(const Kernel& kernel, const DeviceFacts& device, double seconds,
                                       const CalibrationSet& set) {
  const auto found = set.entries().find(device.id);
  const std::string name = energy_class_of(kernel);
  if (found == set.entries().end() || !found->second.calibration.energy.contains(name) || !knows(found->second, kernel))
    return core::fail(core::ErrorCode::unsupported, "no energy coefficients for " + name + " on " + device.id,
                      "calibrate with measurements that include power_w");
  AACO_ASSIGN(const EnergyModel* model, found->second.with_trees(name));
  AACO_ASSIGN(const Roofline roof, roofline(kernel, device));
  const std::vector<float> row = energy_features_of(kernel, roof, seconds);
  const double factor = std::exp(mean_of(model->trees, row));
  EnergyEstimate result;
  result.parts =
      parted(factor, {model->joules_per_flop * roof.flops, model->joules_per_byte * roof.bytes, model->static_watts * seconds});
  const double joules = result.joules();
  if (!(joules > 0) || !std::isfinite(joules / seconds))
    return core::fail(core::ErrorCode::invalid_input,
                      "the energy coefficients for " + name + " on " + device.id + " yield no positive energy",
                      "refit them with 'aaco calibrate'");
  const double scale = model->bounds.log_scale.empty() ? 1 : std::exp(model->bounds.log_scale.predict(row));
  result.lower = std::min(joules, joules * std::exp(scale * model->bounds.low));
  result.upper = std::max(joules, joules * std::exp(scale * model->bounds.high));
  result.level = Level::calibrated;
  result.source = device.id;
  return result;
}

core::Result<EnergyEstimate> energy_of(const Kernel& kernel, const DeviceFacts& device, const LatencyEstimate& latency,
                                       const CalibrationSet& set) {
  AACO_ASSIGN(EnergyEstimate result, energy_of(kernel, device, latency.seconds, set));
  const double joules = result.joules();
  const double below = std::hypot(std::log(joules / result.lower), std::log(latency.seconds / latency.lower));
  const double above = std::hypot(std::log(result.upper / joules), std::log(latency.upper / latency.seconds));
  result.lower = joules * std::exp(-below);
  result.upper = joules * std::exp(above);
  result.level = std::max(result.level, latency.level);
  return result;
}

}  // namespace aaco::estimation
