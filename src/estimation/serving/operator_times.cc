#include "estimation/serving/operator_times.h"

#include "estimation/latency.h"

namespace aaco::estimation {
namespace {

// Weights of a serving stack's types as tables of measurements name them, where the device widens four bits.
std::string widened_name(const std::string& type, const DeviceFacts& device) {
  if (type == "int4") return "int4_wo";
  const bool four_bits = type == "mxfp4" || type == "nvfp4" || type == "fp4";
  return four_bits && !device.flops_per_s.contains("fp4") ? "w4a16_mxfp4" : type;
}

}  // namespace

std::string OperatorTimes::measured_type(const Kernel& kernel) const {
  const std::string type = widened_name(kernel.type, device_);
  const auto entry = fits_->entries().find(device_.id);
  const auto asked = operands_of(type);
  if (entry == fits_->entries().end() || !asked) return type;
  const LatencyModel* best = nullptr;
  for (const LatencyModel& model : entry->second.calibration.latency) {
    if (model.kind != kind_of(kernel) || model.quality.sites < CalibrationSet::kTestedSites) continue;
    if (model.type == type) return type;
    const auto theirs = operands_of(model.type);
    if (!theirs || theirs->computed != asked->computed || theirs->weight_bytes != asked->weight_bytes) continue;
    if (best == nullptr || model.quality.rows > best->quality.rows) best = &model;
  }
  return best != nullptr ? best->type : type;
}

std::optional<double> OperatorTimes::seconds(Kernel kernel) const {
  if (fits_ == nullptr) return std::nullopt;
  kernel.type = measured_type(kernel);
  if (has_programs(kind_of(kernel))) kernel.program = stack_;
  const auto made = estimate(kernel, device_, fits_);
  if (!made || made->level == Level::theoretical) return std::nullopt;
  return made->seconds;
}

}  // namespace aaco::estimation
