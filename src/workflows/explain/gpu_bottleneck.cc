#include "workflows/explain/gpu_bottleneck.h"

#include <algorithm>
#include <array>
#include <map>

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

// Kernels of the GPU by name, with what they would take at its limits where the outcome knows their work.
std::vector<analytics::advice::GpuKernel> kernels_of(const std::string& path, const Json& gpu) {
  trace::NameTable names;
  const auto groups = tracelake::read_table<trace::KernelGroupRow>(path, names);
  if (!groups) return {};
  std::map<std::string, analytics::advice::GpuKernel> kernels;
  for (const auto& row : *groups) {
    if (row.rank != gpu["rank"].as_i64() || row.device != gpu["device"].as_i64()) continue;
    auto& kernel = kernels[std::string(names.text(row.kernel_name))];
    kernel.name = names.text(row.kernel_name);
    kernel.family = names.text(row.family);
    kernel.count += static_cast<double>(row.kernel_count);
    kernel.sum_ns += static_cast<double>(row.kernel_sum_ns);
  }
  for (const Json& known : gpu["roofline"]["kernels"].items()) {
    const auto found = kernels.find(std::string(known["name"].text()));
    const auto time = known["time_ns"].as_f64(), reached = known["reached_ratio"].as_f64();
    if (found == kernels.end() || !time || !reached) continue;
    auto& kernel = found->second;
    kernel.ideal_ns = std::max(0.0, kernel.ideal_ns.value_or(kernel.sum_ns) - *time * std::max(0.0, 1 - *reached));
    kernel.memory_roof = known["roof"].text() == "memory";
  }
  std::vector<analytics::advice::GpuKernel> list;
  for (auto& [name, kernel] : kernels) list.push_back(std::move(kernel));
  return list;
}

}  // namespace

std::vector<analytics::advice::Recommendation> gpu_advice(const std::string& path, const trace::SessionManifest& manifest,
                                                          const trace::Metrics& metrics) {
  const Json* const gpu = idlest(manifest, metrics);
  if (gpu == nullptr) return {};
  const auto value = [&](std::string_view id) {
    const auto* metric = find_metric(metrics, id, (*gpu)["metric_device"].as_i64());
    return metric == nullptr ? 0 : metric->value;
  };
  analytics::advice::GpuFacts facts;
  facts.span_ns = value("gpu.span_ns");
  facts.busy_ns = value("gpu.busy_ns");
  facts.exposed_collective_ns = value("gpu.exposed_collective_ns");
  facts.exposed_copy_ns = std::max(0.0, facts.busy_ns - value("gpu.compute_ns") - facts.exposed_collective_ns);
  facts.launch_ns = (*gpu)["bound"]["launch_ratio"].as_f64().value_or(0) * facts.span_ns;
  for (const Json& gap : (*gpu)["gaps"].items())
    facts.idle[std::string(gap["cause"].text())] = {gap["gap_count"].as_i64().value_or(0), gap["idle_ns"].as_f64().value_or(0)};
  facts.kernels = kernels_of(path, *gpu);
  return analytics::advice::recommend_gpu(facts);
}

std::optional<Bottleneck> gpu_bottleneck(const std::string& path, const trace::SessionManifest& manifest,
                                         const trace::Metrics& metrics) {
  const Json* const gpu = idlest(manifest, metrics);
  if (gpu == nullptr) return std::nullopt;
  const Json& bound = (*gpu)["bound"];
  const double compute = bound["compute_ratio"].as_f64().value_or(0);
  const double computing = computing_share(path).value_or(0.5);
  Bottleneck found;
  found.method = analytics::bottleneck::kGpuLimit;
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
