#include "workflows/gpu_bottleneck.h"

#include <algorithm>
#include <array>

#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::bottleneck::Bottleneck;
using core::Json;

constexpr std::array<std::string_view, 3> kComputing = {"gemm", "convolution", "attention"};

struct Limit {
  std::string_view class_id, ratio;
};
// The limits of analytics/gpu_limit.h as classes, with the share that decided.
constexpr std::array kLimits = {Limit{"communication_bound", "communication_ratio"}, Limit{"copy_bound", "copy_ratio"},
                                Limit{"launch_bound", "launch_ratio"}, Limit{"host_waiting", "waiting_ratio"}};

// Share of the kernel time in kernels that compute; the others mostly move bytes.
std::optional<double> computing_share(const std::string& path) {
  trace::NameTable names;
  const auto groups = tracelake::read_table<trace::KernelGroupRow>(path, names);
  if (!groups) return std::nullopt;
  double sum = 0, computing = 0;
  for (const auto& row : *groups) {
    const auto time = static_cast<double>(row.kernel_sum_ns);
    sum += time;
    if (std::find(kComputing.begin(), kComputing.end(), names.text(row.family)) != kComputing.end()) computing += time;
  }
  return sum > 0 ? std::optional(computing / sum) : std::nullopt;
}

const Json* idlest(const trace::SessionManifest& manifest, const trace::Metrics& metrics) {
  const Json* chosen = nullptr;
  double lowest = 2;
  for (const Json& gpu : manifest.outcome["gpu"]["gpus"].items()) {
    const auto* busy = find_metric(metrics, "gpu.busy_ns", gpu["metric_device"].as_i64());
    const auto* span = find_metric(metrics, "gpu.span_ns", gpu["metric_device"].as_i64());
    if (busy == nullptr || span == nullptr || span->value <= 0 || busy->value / span->value >= lowest) continue;
    lowest = busy->value / span->value;
    chosen = &gpu;
  }
  return chosen;
}

}  // namespace

std::optional<Bottleneck> gpu_bottleneck(const std::string& path, const trace::SessionManifest& manifest,
                                         const trace::Metrics& metrics) {
  const Json* const gpu = idlest(manifest, metrics);
  if (gpu == nullptr) return std::nullopt;
  const Json& bound = (*gpu)["bound"];
  const double compute = bound["compute_ratio"].as_f64().value_or(0);
  const double computing = computing_share(path).value_or(0.5);
  Bottleneck found;
  found.method = "gpu_limit";
  double sum = 0;
  const auto add = [&](std::string_view id, std::string signal, double share) {
    found.ranking.push_back({std::string(id), share});
    found.evidence.push_back({std::move(signal), share, share});
    sum += share;
  };
  add("compute_bound", "gpu.compute_kernels_ratio", compute * computing);
  add("memory_bound", "gpu.memory_kernels_ratio", compute * (1 - computing));
  for (const Limit& limit : kLimits)
    add(limit.class_id, "gpu." + std::string(limit.ratio), bound[limit.ratio].as_f64().value_or(0));
  if (sum <= 0) return std::nullopt;
  for (auto& one : found.ranking) one.probability /= sum;
  const auto order = [](const auto& a, const auto& b) { return a.probability > b.probability; };
  std::stable_sort(found.ranking.begin(), found.ranking.end(), order);
  std::stable_sort(found.evidence.begin(), found.evidence.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  std::erase_if(found.evidence, [](const auto& one) { return one.weight <= 0; });
  found.class_id = found.ranking.front().class_id;
  found.confidence = found.ranking.front().probability;
  return found;
}

}  // namespace aaco::workflows
