#include "analytics/gpu_bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/numbers.h"

namespace aaco::analytics::bottleneck {
namespace {

constexpr double kUnjudged = 0.5;
// The judged cases are those that the rules were chosen on, and planted ones are easy: on others less is right, and least where
// the second class is near (our own judgement).
constexpr double kMaxConfidence = 0.95, kMaxClose = 0.89;

}  // namespace

double headline_confidence(const confidence::Table& table, std::string_view evidence) {
  return std::min(table.of(evidence).value_or(kUnjudged), evidence == kCloseHeadline ? kMaxClose : kMaxConfidence);
}

std::optional<std::size_t> least_busy(std::span<const GpuDevice> devices) {
  std::optional<std::size_t> chosen;
  double lowest = 2;  // device time may overlap, so that the ratio may exceed 1 a little
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const GpuDevice& device = devices[i];
    if (!device.busy_ns || !device.span_ns || *device.span_ns <= 0 || *device.busy_ns / *device.span_ns >= lowest) continue;
    lowest = *device.busy_ns / *device.span_ns;
    chosen = i;
  }
  return chosen;
}

KernelParts parts_of(double compute, double memory, double unknown, double far) {
  const double sum = compute + memory + unknown;
  return sum > 0 ? KernelParts{compute / sum, memory / sum, unknown / sum, far / sum} : KernelParts();
}

std::optional<Bottleneck> gpu_bottleneck(const GpuLimitShares& shares, const KernelParts& parts,
                                         const confidence::Table& confidences) {
  Bottleneck found;
  found.method = kGpuLimit;
  double sum = 0;
  const auto add = [&](const char* class_id, const char* signal, double share) {
    found.ranking.push_back({class_id, share});
    found.evidence.push_back({signal, share, share});
    sum += share;
  };
  add("compute_bound", "gpu.compute_kernels_ratio", shares.compute * parts.compute);
  add("memory_bound", "gpu.memory_kernels_ratio", shares.compute * parts.memory);
  add("communication_bound", "gpu.communication_ratio", shares.communication);
  add("copy_bound", "gpu.copy_ratio", shares.copy);
  add("launch_bound", "gpu.launch_ratio", shares.launch);
  add("host_waiting", "gpu.waiting_ratio", shares.waiting);
  if (shares.held > 0) add("dependency_bound", "gpu.held_ratio", shares.held);
  if (parts.unknown > 0) add(kUnknownKernels.data(), "gpu.unknown_kernels_ratio", shares.compute * parts.unknown);
  if (shares.warmup > 0) add("warmup", "gpu.warmup_ratio", shares.warmup);
  if (sum <= 0) return std::nullopt;
  for (auto& one : found.ranking) one.probability /= sum;
  std::stable_sort(found.ranking.begin(), found.ranking.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  std::stable_sort(found.evidence.begin(), found.evidence.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  std::erase_if(found.evidence, [](const auto& one) { return one.weight <= 0; });
  found.class_id = found.ranking.front().class_id;
  if (found.class_id != kUnknownKernels) {
    const bool clear = found.ranking.front().probability >= kClearTimes * found.ranking[1].probability;
    found.evidence_class = clear ? kClearHeadline : kCloseHeadline;
    found.confidence = headline_confidence(confidences, found.evidence_class);
    return found;
  }
  const bool busy = shares.compute >= kMostlyBusy * sum;
  found.class_id = busy ? kDeviceBusy : kInconclusive;
  if (busy) {
    found.ranking.front().class_id = kDeviceBusy;
    found.evidence_class = kBusyHeadline;
    found.confidence = headline_confidence(confidences, found.evidence_class);
  }
  const std::string unknown = core::format_percent(shares.compute * parts.unknown);
  if (2 * parts.far >= parts.unknown)
    found.undecided = fmt::format(
        "Kernels with unknown limits take {} of the span, and {} are far from both the device's peak rate and its bandwidth: "
        "latency, "
        "low occupancy or work that was not counted limits these.",
        unknown, core::format_percent(shares.compute * parts.far));
  else
    found.undecided = fmt::format(
        "Kernels with unknown limits take {} of the span: no operator shapes and no counters give their distance to the "
        "device's peak rate and bandwidth.",
        unknown);
  return found;
}

Bottleneck without_timeline(std::string why) {
  Bottleneck found;
  found.class_id = kInconclusive;
  found.method = kGpuLimit;
  if (!why.empty()) why[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(why[0])));
  found.undecided = std::move(why) + ".";
  return found;
}

}  // namespace aaco::analytics::bottleneck
