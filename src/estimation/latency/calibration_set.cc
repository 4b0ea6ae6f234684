#include <algorithm>
#include <cmath>

#include "estimation/calibrated.h"
#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"

namespace aaco::estimation {
namespace {

const EnergyModel* energy_model(const CalibrationSet::Entry& entry, const Kernel& kernel) {
  const auto& models = entry.calibration.energy;
  const auto exact = models.find(class_of(kernel));
  if (exact != models.end()) return &exact->second;
  const EnergyModel* best = nullptr;  // of another class, the one with the most rows: its coefficients are the device's
  for (const auto& [name, model] : models)
    if (best == nullptr || model.quality.rows > best->quality.rows) best = &model;
  return best;
}

}  // namespace

std::string class_of(const Kernel& kernel) {
  std::string name(kind_of(kernel));
  if (const auto* gemm = std::get_if<GemmShape>(&kernel.shape); gemm != nullptr && gemm->batch > 1) name = "batched gemm";
  if (const auto* vector = std::get_if<VectorShape>(&kernel.shape)) name = vector->op;
  if (const auto* attention = std::get_if<AttentionShape>(&kernel.shape))
    name = attention->prefill ? "prefill attention" : "decode attention";
  return name + " " + kernel.type;
}

void CalibrationSet::add(DeviceCalibration calibration, DeviceFacts facts) {
  const std::string id = calibration.device;
  entries_.insert_or_assign(id, Entry{std::move(calibration), std::move(facts)});
}

const LatencyModel* CalibrationSet::find(std::string_view device, const Kernel& kernel) const {
  const auto entry = entries_.find(std::string(device));
  if (entry == entries_.end()) return nullptr;
  const std::string_view kind = kind_of(kernel);
  const auto element = element_of(kernel.type);
  const auto* vector = std::get_if<VectorShape>(&kernel.shape);
  const LatencyModel* best = nullptr;
  for (const LatencyModel& model : entry->second.calibration.latency) {
    if (model.kind != kind) continue;
    const auto& operators = model.operators;
    if (vector != nullptr && std::find(operators.begin(), operators.end(), vector->op) == operators.end()) continue;
    if (model.type == kernel.type) return &model;
    if (element && element_of(model.type) == element && (best == nullptr || model.quality.rows > best->quality.rows))
      best = &model;
  }
  return best;
}

core::Result<EnergyEstimate> energy_of(const Kernel& kernel, const DeviceFacts& device, double seconds,
                                       const CalibrationSet& set) {
  const auto found = set.entries().find(device.id);
  const EnergyModel* model = found == set.entries().end() ? nullptr : energy_model(found->second, kernel);
  if (model == nullptr)
    return core::fail(core::ErrorCode::unsupported, "there are no energy coefficients of " + device.id,
                      "calibrate it with measurements that have power_w");
  AACO_ASSIGN(const Roofline roof, roofline(kernel, device));
  EnergyEstimate result;
  result.static_joules = model->static_watts * seconds;
  result.compute_joules = model->joules_per_flop * roof.flops;
  result.memory_joules = model->joules_per_byte * roof.bytes;
  const double parts = result.static_joules + result.compute_joules + result.memory_joules;
  const std::vector<float> row = energy_features_of(kernel, roof, seconds);
  result.joules = parts * std::exp(mean_of(model->trees, row));
  const double scale = model->bounds.log_scale.empty() ? 1 : std::exp(model->bounds.log_scale.predict(row));
  result.lower = std::min(result.joules, result.joules * std::exp(scale * model->bounds.low));
  result.upper = std::max(result.joules, result.joules * std::exp(scale * model->bounds.high));
  result.source = device.id;
  return result;
}

}  // namespace aaco::estimation
