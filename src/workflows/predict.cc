#include "workflows/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/files.h"
#include "estimation/kernel.h"
#include "estimation/memory.h"
#include "estimation/models.h"
#include "graph/batch.h"
#include "workflows/calibration_registry.h"

namespace aaco::workflows {
namespace {

using estimation::Estimate;
using graph::ElementType;

// How far measured peaks were from the liveness of graphs (docs/estimation.md): allocators round and keep, runtimes plan anew.
constexpr double kMemoryBelow = 0.9, kMemoryAbove = 1.5;

std::optional<ElementType> element_type(const std::string& dtype) {
  if (dtype == "tf32") return ElementType::float32;
  if (dtype == "fp8") return ElementType::float8e4m3fn;
  if (dtype == "fp4") return ElementType::float4e2m1;
  if (dtype == "fp64") return ElementType::float64;
  return graph::element_type_from_string(dtype);
}

// The graph as it would be with its floating-point tensors in another type.
void retype(graph::Graph& graph, ElementType type) {
  for (auto& tensor : graph.tensors)
    if (graph::is_floating(tensor.type)) tensor.type = type;
  for (auto& body : graph.subgraphs) retype(body, type);
}

void add_memory(const graph::Graph& graph, const hardware::Device& device, const std::string& dtype,
                estimation::GraphEstimate& out) {
  estimation::MemoryEstimate memory;
  const auto type = dtype.empty() ? std::nullopt : element_type(dtype);
  if (type) {
    graph::Graph other = graph;
    retype(other, *type);
    memory = estimation::estimate_memory(other);
  } else {
    memory = estimation::estimate_memory(graph);
  }
  auto& parts = out.memory_parts;
  parts.weight_bytes = memory.weight_bytes;
  parts.activation_bytes = memory.activation_bytes;
  parts.workspace_bytes = memory.workspace_bytes;
  parts.kv_cache_bytes = memory.kv_cache_bytes;
  if (device.memory.bytes) parts.device_bytes = static_cast<std::int64_t>(device.memory.bytes->value);
  if (memory.peak_node >= 0 && static_cast<std::size_t>(memory.peak_node) < graph.nodes.size())
    parts.peak_node = graph.nodes[static_cast<std::size_t>(memory.peak_node)].name;
  const auto peak = static_cast<double>(memory.peak_bytes);
  out.memory = Estimate{
      peak, "bytes", estimation::Level::theoretical, "liveness of the graph's tensors", kMemoryBelow * peak, kMemoryAbove * peak};
  if (memory.unknown_tensors > 0)
    out.notes.push_back(std::to_string(memory.unknown_tensors) +
                        " tensors have no known size: the memory is at least what is said");
}

// The type most of the time is spent in.
std::string main_type(const estimation::GraphEstimate& estimate) {
  std::map<std::string, double> seconds;
  for (const auto& node : estimate.nodes) seconds[node.dtype] += node.seconds();
  const auto most =
      std::max_element(seconds.begin(), seconds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == seconds.end() ? std::string() : most->first;
}

// Where whole models of the device's runtime were fitted, the graph's time is by them: sums over kernels miss what lies between.
void use_whole_models(const graph::Graph& graph, const hardware::Device& device, const estimation::Conditions& conditions,
                      const estimation::CalibrationSet& set, estimation::GraphEstimate& out) {
  const auto entry = set.entries().find(out.device_id);
  if (entry == set.entries().end() || conditions.best != estimation::Level::calibrated || conditions.power_cap_watts ||
      device.kind != hardware::DeviceKind::cpu)
    return;
  const auto fit = entry->second.calibration.models.find("onnxruntime network " + main_type(out));
  if (fit == entry->second.calibration.models.end()) return;
  const estimation::ModelTerms terms = estimation::terms_of(out, graph::cost_of(graph), device);
  const auto made = estimate_model(fit->second, terms, out.device_id);
  const auto& quality = fit->second.quality;
  out.notes.push_back(
      fmt::format("the time is by {} measured runs of whole models in {} families (families not seen: {:.1f} % off); the nodes, "
                  "each by itself, "
                  "sum to {:.3g} ms",
                  quality.rows, quality.sites, quality.mean_error * 100, out.latency.value / 1e6));
  out.latency =
      Estimate{made.seconds * 1e9, "ns", estimation::Level::calibrated, out.device_id + ": " + fit->first, made.lower * 1e9,
               made.upper * 1e9};
}

}  // namespace

core::Result<graph::Fusion> usual_fusion(const graph::Graph& graph, const hardware::Device& device, const core::Paths& paths) {
  const bool cpu = device.kind == hardware::DeviceKind::cpu;
  const std::string file = core::join_path(paths.share, cpu ? "data/fusion/onnxruntime_cpu.yaml" : "data/fusion/migraphx.yaml");
  AACO_ASSIGN(const graph::FusionRules rules, graph::load_fusion_rules(file));
  return graph::fuse(graph, rules);
}

core::Result<estimation::CalibrationSet> calibrations_for(const hardware::Device& device,
                                                          const estimation::Conditions& conditions, const core::Paths& paths) {
  if (conditions.best == estimation::Level::theoretical) return estimation::CalibrationSet();
  return load_calibrations_for(paths, device);
}

core::Result<report::AnalysisReport> predict(const graph::Model& model, const std::string& name, const hardware::Device& device,
                                             const estimation::Conditions& asked, const core::Paths& paths) {
  estimation::Conditions conditions = asked;
  if (!conditions.dtype.empty()) conditions.dtype = estimation::canonical_type(conditions.dtype);
  report::AnalysisReport report;
  report.model = name;
  report.dtype = conditions.dtype;
  for (const auto& [symbol, size] : model.dimensions.sizes) report.sizes.emplace_back(symbol, size);
  report.assumptions = model.dimensions.assumptions;
  report.assumptions.insert(report.assumptions.end(), model.shapes.assumptions.begin(), model.shapes.assumptions.end());
  report.assumptions.insert(report.assumptions.end(), model.shapes.problems.begin(), model.shapes.problems.end());
  report.batch = graph::batch_of(model.graph);
  AACO_ASSIGN(const graph::Fusion fusion, usual_fusion(model.graph, device, paths));
  conditions.fusion = &fusion;
  AACO_ASSIGN(const auto calibrations, calibrations_for(device, conditions, paths));
  AACO_ASSIGN(report.estimate, estimation::analyze(model.graph, device, conditions, &calibrations));
  use_whole_models(model.graph, device, conditions, calibrations, report.estimate);
  add_memory(model.graph, device, conditions.dtype, report.estimate);
  return report;
}

}  // namespace aaco::workflows
