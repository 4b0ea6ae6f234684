#include "estimation/analysis/emulation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "estimation/mapping.h"

namespace aaco::estimation {
namespace {

// Of what vector code does in a clock, scalar code does one lane of eight, on one of two units, and converts operands and result:
// 32 times slower. Caches, threads and vectorising compilers spread it; one processor's table has 11 to 310 (docs/results.md).
constexpr double kSlower = 32, kBelow = 3, kAbove = 10;

bool emulated(const std::string& type, const hardware::Device& device) {
  if (device.kind != hardware::DeviceKind::cpu || (type != "fp16" && type != "bf16")) return false;
  const std::string by = device.computed_as(type == "fp16" ? "float16" : "bfloat16");
  return by == "float32" || by == "float64";
}

constexpr std::array<std::pair<const char*, const char*>, 6> kWidestFirst{
    {{"fp32", "float32"}, {"fp16", "float16"}, {"bf16", "bfloat16"}, {"fp8", "float8"}, {"int8", "int8"}, {"int4", "int4"}}};

}  // namespace

void move_to_units(const graph::NodeCost& cost, const hardware::Device& device, Kernel& kernel) {
  if (graph::is_floating(cost.type) || cost.type == graph::ElementType::unknown || kernel.type != "fp32") return;
  for (const auto& [name, registry] : kWidestFirst) {
    if (device.computed_as(registry).empty()) continue;
    kernel.type = name;
    return;
  }
}

void use_narrow_weights(const graph::NodeCost& cost, const hardware::Device& device, Kernel& kernel) {
  const auto* site = std::get_if<graph::GemmSite>(&cost.site);
  if (site == nullptr || device.kind != hardware::DeviceKind::gpu || (kernel.type != "fp16" && kernel.type != "bf16")) return;
  if (!device.peak_ops_per_s("bfloat16")) return;  // what "int4_wo" is computed in
  if (site->weight_bits == 4) kernel.type = "int4_wo";
  if (site->weight_bits == 8) kernel.type = "int8_wo";
}

void widen_for_narrower_type(const Kernel& kernel, const Work& work, const hardware::Device& device, LatencyEstimate& latency) {
  if (kernel.type != "fp32" || !std::holds_alternative<ConvolutionShape>(kernel.shape) || device.computed_as("tf32") != "tf32")
    return;
  Kernel narrower = kernel;
  narrower.type = "tf32";
  if (const auto mapping = map_kernel(narrower, work, device))
    latency.lower = std::min(latency.lower, theoretical_estimate(work, *mapping, device).lower);
}

void emulate_type(const Kernel& kernel, const hardware::Device& device, LatencyEstimate& latency) {
  if (!emulated(kernel.type, device)) return;
  Explanation& why = latency.explanation;
  why.compute_s *= kSlower;
  latency.seconds = (latency.seconds - why.floor_s) * kSlower + why.floor_s;
  latency.lower = latency.seconds / kBelow;
  latency.upper = latency.seconds * kAbove;
  why.limit = why.compute_s > why.memory_s ? "compute" : "memory";
  why.efficiency_ratio = (std::max(why.compute_s, why.memory_s) + why.floor_s) / latency.seconds;
}

std::string emulation_note(const GraphEstimate& graph, const hardware::Device& device) {
  for (const NodeEstimate& node : graph.nodes)
    if (node.latency.level == Level::theoretical && emulated(node.dtype, device))
      return "the CPU has no units for " + node.dtype +
             ": an eager framework computes element by element, tens of times slower than in fp32; a runtime that converts to "
             "fp32 does not";
  return {};
}

}  // namespace aaco::estimation
