#include "estimation/serving/operator_times.h"

#include <algorithm>

#include "estimation/latency.h"

namespace aaco::estimation {
namespace {

// On sites that the fit had not seen: a worse one is no better than the specification's rates (docs/results.md).
constexpr double kMaxError = 0.15;

constexpr double kBusyShare = 0.3;  // of a product's time, at least

// Weights of a serving stack's types as tables of measurements name them, where the device widens four bits.
std::string widened_name(const std::string& type, const DeviceFacts& device) {
  if (type == "int4") return "int4_wo";
  const bool four_bits = type == "mxfp4" || type == "nvfp4" || type == "fp4";
  return four_bits && !device.flops_per_s.contains("fp4") ? "w4a16_mxfp4" : type;
}

}  // namespace

// A fit of another variant of the type is of no use here: H200's products in blocks were issued in several steps of 50 us.
std::optional<Level> OperatorTimes::level_of(const Kernel& kernel) const {
  std::optional<Level> best;
  for (const auto& [id, entry] : fits_->entries()) {
    if (entry.facts.vendor != device_.vendor || entry.facts.is_cpu != device_.is_cpu) continue;
    const auto& models = entry.calibration.latency;
    const bool measured = std::any_of(models.begin(), models.end(), [&](const LatencyModel& model) {
      return model.kind == kind_of(kernel) && model.type == kernel.type && model.quality.sites >= CalibrationSet::kTestedSites &&
             model.quality.mean_error <= kMaxError;
    });
    if (measured && id == device_.id) return Level::calibrated;
    if (measured) best = Level::interpolated;
  }
  return best;
}

std::optional<double> OperatorTimes::seconds(Kernel kernel) const {
  if (fits_ == nullptr) return std::nullopt;
  kernel.type = widened_name(kernel.type, device_);
  if (has_programs(kind_of(kernel))) kernel.program = stack_;
  const auto level = level_of(kernel);
  const auto made = level ? std::optional(estimate(kernel, device_, fits_, *level)) : std::nullopt;
  if (!made || !*made || (*made)->level == Level::theoretical) return std::nullopt;
  // Captured graphs issue the next kernel while one runs: the launch is a term of its own there.
  const double floor = std::holds_alternative<GemmShape>(kernel.shape) ? (*made)->explanation.floor_s : 0;
  return std::max((*made)->seconds - floor, (*made)->seconds * kBusyShare);
}

}  // namespace aaco::estimation
