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
  why.method = "roofline from published peaks (good kernels reach about 60 % of them) plus a launch floor";
  return result;
}

constexpr std::array<std::string_view, 3> kLevels{"CALIBRATED", "INTERPOLATED", "THEORETICAL"};

constexpr double kOtherProgram = 0.45;  // of a logarithm, either way
// FP16 and BF16 where both have the same peak: one is often the better tuned one. MI210's convolutions in FP16 take 0.48 to 1.02
// times what the same take in BF16, nine of ten (docs/results.md).
constexpr double kOtherSixteen = 0.5;

// For what only a relative of the kernel was measured on: bounds wider by a factor and a time either way, never below the
// roofline, and the estimate in the middle of them. A program that may be issued in several steps (floor_s > 0) was measured with
// a floor of its own, which is no limit of another.
void widen(const Roofline& roof, double factor, double floor_s, LatencyEstimate& estimate) {
  const double below = std::log(estimate.seconds / estimate.lower), above = std::log(estimate.upper / estimate.seconds);
  const double least = estimate.seconds * std::exp(-std::hypot(below, factor)) - floor_s;
  estimate.lower = std::min(estimate.lower, std::max(roof.seconds(), least));
  estimate.upper = estimate.seconds * std::exp(std::hypot(above, factor)) + floor_s;
  const double measured_floor = floor_s > 0 ? 0 : std::min(estimate.explanation.floor_s, estimate.upper);
  estimate.seconds = std::max({roof.seconds(), measured_floor, std::sqrt(estimate.lower * estimate.upper)});
  estimate.explanation.efficiency_ratio = explained_ratio(estimate.explanation, estimate.seconds);
  estimate.level = Level::interpolated;
  estimate.same_laboratory.reset();
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
  result.same_laboratory.reset();
  Explanation& why = result.explanation;
  why.compute_s *= roof.compute_s / measured.compute_s;
  why.memory_s *= roof.memory_s / measured.memory_s;
  why.limit = std::max(why.compute_s, why.memory_s) < why.floor_s ? "floor" : why.compute_s > why.memory_s ? "compute" : "memory";
  widen(roof, kOtherProgram, 0, result);
  why.method += "; measured with causal attention, but this one is not causal";
  return result;
}

// What came with the program of one or two sites is of kernels that nobody may have tuned (MI300X's 13 rows of BF16 reach 3 % of
// the peak) and was never tried on another site: it says nothing of others. One's own rows of the kernels that count may be few.
bool untested_elsewhere(const CalibrationSet::Found& found) {
  return found.model->quality.sites < CalibrationSet::kTestedSites && !found.entry->provenance_of(*found.model).licences.empty();
}

// From another device of the same architecture that measured the very kernel; empty: there is none.
core::Result<std::optional<LatencyEstimate>> of_a_sister(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                                                         const CalibrationSet& calibrations) {
  const auto& entries = calibrations.entries();
  const bool measured = std::any_of(entries.begin(), entries.end(), [&](const auto& one) {
    if (one.first == device.id || one.second.facts.architecture != device.architecture) return false;
    const auto model = calibrations.find(one.first, kernel, true);
    return model && model->model->type == kernel.type && !model->model->operators.empty() && knows_program(*model->model, kernel);
  });
  if (!measured) return std::optional<LatencyEstimate>();
  return interpolated(kernel, device, roof, calibrations);
}

// From the device's own measurements of the type or one of the same element, else from those of relatives; empty: there are none.
core::Result<std::optional<LatencyEstimate>> of_measurements(const Kernel& kernel, const DeviceFacts& device,
                                                             const Roofline& roof, const CalibrationSet& calibrations,
                                                             Level best) {
  const auto found = best == Level::calibrated ? calibrations.find(device.id, kernel) : std::nullopt;
  if (!found || untested_elsewhere(*found)) return interpolated(kernel, device, roof, calibrations);
  // A stack's kernel that the device's own table does not have, but a sister's: another kernel's time says less than another
  // device's of the same architecture. A table that names no kernels (H100's prefill attention) has none.
  const bool known = knows_program(*found->model, kernel) || kernel.program.find(':') == std::string::npos;
  if (!known) {
    AACO_ASSIGN(auto sister, of_a_sister(kernel, device, roof, calibrations));
    if (sister) return sister;
  }
  AACO_ASSIGN(const LatencyModel* model, found->entry->with_trees(*found->model));
  LatencyEstimate own = calibrated(kernel, device, roof, *model);
  if (!known) {
    widen(roof, kOtherProgram, 0, own);
    if (own.explanation.method.find(kernel.program) == std::string::npos)
      own.explanation.method += "; no measurements of " + kernel.program;
  }
  if (model->type != kernel.type) {
    widen_for_another_type(model->type, kernel.type, roof, own);
  } else if (!saw_class(*model, kernel)) {
    widen(roof, kOtherProgram, 0, own);
    own.explanation.method += "; none of them is of " + class_of(kernel);
  }
  return std::optional(std::move(own));
}

// NVIDIA's libraries have the same tiles for products of both types: 589 products of A100 in FP16 took 1.006 times as long as in
// BF16 in the median, measured by two laboratories (docs/results.md). Of other makers and operators nobody has shown that.
bool same_kernels_for_sixteen(const Kernel& kernel, const DeviceFacts& device) {
  return device.vendor == "nvidia" && std::holds_alternative<GemmShape>(kernel.shape);
}

double width(const LatencyEstimate& one) { return one.upper / one.lower; }

// FP16 from BF16 and the reverse, on devices that compute both at one rate, where that is better than what relatives say of the
// type itself (`carried`, may be empty): the device's own measurements may be, other relatives' are not. Empty otherwise.
core::Result<std::optional<LatencyEstimate>> of_the_other_sixteen(const Kernel& kernel, const DeviceFacts& device,
                                                                  const Roofline& roof, const CalibrationSet& calibrations,
                                                                  Level best, const std::optional<LatencyEstimate>& carried) {
  const std::optional<LatencyEstimate> none;
  if (kernel.type != "fp16" && kernel.type != "bf16") return none;
  Kernel other = kernel;
  other.type = kernel.type == "fp16" ? "bf16" : "fp16";
  const auto ours = device.flops_per_s.find(kernel.type), theirs = device.flops_per_s.find(other.type);
  if (ours == device.flops_per_s.end() || theirs == device.flops_per_s.end() || ours->second != theirs->second) return none;
  const auto own = best == Level::calibrated ? calibrations.find(device.id, other) : std::nullopt;
  if (carried && !own) return none;
  // One or two sites may be kernels that nobody tuned (MI300X's BF16 at 3 % of the peak): they tell nothing of another type, but
  // relatives may have measured that.
  if (own && own->model->quality.sites < CalibrationSet::kTestedSites && !untested_elsewhere(*own)) return none;
  AACO_ASSIGN(auto made, of_measurements(other, device, roof, calibrations, best));
  if (!made) return none;
  if (same_kernels_for_sixteen(kernel, device)) {
    made->level = Level::interpolated;
  } else {
    const double seconds = made->seconds;  // the bound is of both types, the better guess is that they are alike
    widen(roof, kOtherSixteen, 0, *made);
    made->seconds = std::clamp(seconds, made->lower, made->upper);
    made->explanation.efficiency_ratio = explained_ratio(made->explanation, made->seconds);
  }
  made->explanation.method +=
      "; no measurements of " + kernel.type + ", using " + other.type + " instead, which may be tuned better or worse";
  return carried && width(*carried) <= width(*made) ? none : made;
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
      "; no measurements of " + std::string(asked) + ", using " + std::string(measured) + " instead, whose kernels may differ";
}

core::Result<LatencyEstimate> estimate(const Kernel& kernel, const DeviceFacts& device, const CalibrationSet* calibrations,
                                       Level best) {
  AACO_ASSIGN(const Roofline roof, roofline(kernel, device));
  if (calibrations == nullptr || best == Level::theoretical) return theoretical(roof, device);
  const auto* attention = std::get_if<AttentionShape>(&kernel.shape);
  if (attention != nullptr && !attention->causal) return carried_from_causal(kernel, device, roof, *calibrations, best);
  AACO_ASSIGN(auto measured, of_measurements(kernel, device, roof, *calibrations, best));
  if (measured && measured->level == Level::calibrated) return *std::move(measured);
  AACO_ASSIGN(auto sixteen, of_the_other_sixteen(kernel, device, roof, *calibrations, best, measured));
  if (sixteen) return *std::move(sixteen);
  if (measured) return *std::move(measured);
  return theoretical(roof, device);
}

}  // namespace aaco::estimation
