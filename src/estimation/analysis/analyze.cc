#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "estimation/analysis.h"
#include "estimation/analysis/achieved.h"
#include "estimation/analysis/emulation.h"
#include "estimation/analysis/energy.h"
#include "estimation/analysis/footing.h"
#include "estimation/analysis/fused_kernels.h"
#include "estimation/analysis/host.h"
#include "estimation/analysis/on_chip.h"
#include "estimation/calibrated.h"
#include "estimation/roofline.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;

// One analysis: what all nodes share, and the estimates of kernels seen before (layers repeat).
class Analysis {
 public:
  Analysis(const hardware::Device& device, const Conditions& conditions, const CalibrationSet* calibrations)
      : device_(device), conditions_(conditions), calibrations_(calibrations), facts_(facts_of(device)) {}

  // `own`: what a fit knows of the node; `work`: all of it, with what is fused behind it, in so many steps one after the other;
  // `link_bytes`: of it, what crosses the link of a device without memory of its own.
  core::Result<NodeEstimate> node(const Kernel& kernel, const Work& own, const Work& work, double steps,
                                  std::optional<double> link_bytes) {
    const std::string key = shape_text(kernel) + kernel.type + std::to_string(kernel.shape.index()) +
                            fmt::format("{} {} {} {} {} {} {}", op_of(kernel), own.bytes, work.flops, work.bytes, work.cold_bytes,
                                        steps, link_bytes.value_or(0));
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    AACO_ASSIGN(NodeEstimate made, estimate_node(kernel, own, work, steps, link_bytes));
    return known_.emplace(key, std::move(made)).first->second;
  }

 private:
  // No step starts before the one before it has ended everywhere: each pays the floor again.
  static void run_in_steps(double steps, NodeEstimate& node) {
    LatencyEstimate& latency = node.latency;
    Explanation& why = latency.explanation;
    const double before = latency.seconds;
    latency.seconds += (steps - 1) * why.floor_s;
    latency.lower *= latency.seconds / before;
    latency.upper *= latency.seconds / before;
    why.floor_s *= steps;
    why.efficiency_ratio = (std::max(why.compute_s, why.memory_s) + why.floor_s) / latency.seconds;
    if (why.floor_s > latency.seconds / 2) why.limit = "floor";
    node.mapping.reasons.push_back(fmt::format("{:g} dependent steps, executed one after another", steps));
  }

  static std::string op_of(const Kernel& kernel) {
    if (const auto* rows = std::get_if<VectorShape>(&kernel.shape)) return rows->op;
    if (const auto* conv = std::get_if<ConvolutionShape>(&kernel.shape))
      return fmt::format("{} {} {} {} {} {}", conv->pad_h, conv->pad_w, conv->stride_h, conv->stride_w, conv->dilation_h,
                         conv->dilation_w);
    return {};
  }

  // A fit knows the kernel without what is fused behind it: that lengthens the fitted time as it does the one by specifications.
  core::Status carry_fused(const Kernel& kernel, const Work& own, NodeEstimate& node) const {
    if (own.flops == node.work.flops && own.bytes == node.work.bytes) return {};
    AACO_ASSIGN(const Mapping alone, map_kernel(kernel, own, device_));
    const double before = theoretical_estimate(own, alone, device_).seconds;
    if (!(before > 0)) return {};
    LatencyEstimate& fitted = node.latency;
    Explanation& why = fitted.explanation;
    if (own.flops > 0) why.compute_s *= node.work.flops / own.flops;
    if (own.bytes > 0) why.memory_s *= node.work.bytes / own.bytes;
    const double longer = node.theoretical_seconds / before, least = std::max(why.compute_s, why.memory_s);
    fitted.lower *= longer;
    fitted.upper = std::max(fitted.upper * longer, least);
    fitted.seconds = std::max(fitted.seconds * longer, least);
    why.efficiency_ratio = std::min(1.0, (least + why.floor_s) / fitted.seconds);
    return {};
  }

  // Empty: the calibrations have none of the kernel's class.
  [[nodiscard]] std::optional<FittedEnergy> fitted_energy(const Kernel& kernel, const Work& own,
                                                          const LatencyEstimate& latency) const {
    if (conditions_.best != Level::calibrated) return std::nullopt;
    auto known = energy_of(kernel, facts_, latency, *calibrations_);
    if (!known) return std::nullopt;
    return FittedEnergy{*std::move(known), own, latency.seconds};
  }

  core::Result<NodeEstimate> estimate_node(const Kernel& kernel, const Work& own, const Work& work, double steps,
                                           std::optional<double> link_bytes) {
    NodeEstimate out;
    out.shape = shape_text(kernel);
    out.dtype = kernel.type;
    out.work = work;
    AACO_ASSIGN(out.mapping, map_kernel(kernel, work, device_));
    if (link_bytes && *link_bytes <= 0) out.mapping.level = "on-chip memory";
    out.latency = theoretical_estimate({work.flops, link_bytes.value_or(work.bytes)}, out.mapping, device_);
    if (steps > 1) run_in_steps(steps, out);
    widen_for_narrower_type(kernel, work, device_, out.latency);
    if (conditions_.eager) emulate_type(kernel, device_, out.latency);
    out.theoretical_seconds = out.latency.seconds;
    std::optional<FittedEnergy> energy;
    if (calibrations_ != nullptr && conditions_.best != Level::theoretical) {
      const auto fitted = estimate(kernel, facts_, calibrations_, conditions_.best);
      if (fitted && fitted->level != Level::theoretical) {
        out.latency = *fitted;
        energy = fitted_energy(kernel, own, *fitted);
        AACO_TRY(carry_fused(kernel, own, out));
      } else if (steps == 1 && !link_bytes && !conditions_.eager) {
        if (const auto* achieved = achieved_by(kernel.type)) out.latency = achieved_estimate(out.latency, out.mapping, *achieved);
      }
    }
    AACO_TRY(add_node_energy(device_, conditions_, std::move(energy), link_bytes, out));
    return out;
  }

  // Of classes that nobody measured; null: of no device like this one.
  const Achieved* achieved_by(const std::string& type) {
    const auto [known, added] = achieved_.try_emplace(type);
    if (added) known->second = achieved_rates(*calibrations_, facts_, type);
    return known->second ? &*known->second : nullptr;
  }

  const hardware::Device& device_;
  const Conditions& conditions_;
  const CalibrationSet* calibrations_;
  DeviceFacts facts_;
  std::map<std::string, NodeEstimate> known_;
  std::map<std::string, std::optional<Achieved>> achieved_;  // by type
};

// The level and source by the time that stands on them.
void grade(GraphEstimate& out) {
  Footing footing;
  for (const NodeEstimate& node : out.nodes) footing.add(node.latency.level, node.latency.source, node.seconds());
  footing.grade("time", out.latency);
}

void add_classes(GraphEstimate& out) {
  for (const NodeEstimate& node : out.nodes) {
    ClassEstimate& one = out.classes[std::string(graph::to_string(node.kind))];
    ++one.nodes;
    one.seconds += node.seconds();
    one.flops += node.work.flops * node.repeats;
    one.bytes += node.work.bytes * node.repeats;
    if (node.energy) one.joules += node.energy->joules() * node.repeats;
  }
}

// The cost without the scores that a causal mask drops: kernels of attention on accelerators pass over them, those of CPUs do
// not.
graph::NodeCost without_masked(const graph::NodeCost& cost, const hardware::Device& device) {
  const auto* site = std::get_if<graph::AttentionSite>(&cost.site);
  if (site == nullptr || !site->causal || site->keys < site->queries || device.kind == hardware::DeviceKind::cpu) return cost;
  graph::NodeCost out = cost;
  const double dropped = static_cast<double>(site->queries - 1) / 2 / static_cast<double>(site->keys);
  out.flops -= (cost.flops - 2 * site->projection_macs) * dropped;
  return out;
}

// What a fit of the node's kernel knows: attention, without the product by weights that some spellings of it begin with.
Work fitted_work(const graph::NodeCost& cost, const std::string& dtype) {
  const auto* attention = std::get_if<graph::AttentionSite>(&cost.site);
  if (attention == nullptr || attention->projection_macs <= 0) return work_under(cost, dtype);
  graph::NodeCost alone = cost;
  alone.flops -= 2 * attention->projection_macs;
  alone.bytes_read -= cost.weight_bytes;
  return work_under(alone, dtype);
}

// In the type that is computed in.
double weights_of(const graph::NodeCost& cost, const std::string& dtype) {
  const double bytes = cost.bytes_read + cost.bytes_written;
  return bytes > 0 ? cost.weight_bytes * work_under(cost, dtype).bytes / bytes : 0;
}

// Every run reads all weights, so that a cache holds all of them for the next one or, in effect, none.
bool weights_are_cold(const graph::GraphCost& cost, const hardware::Device& device, const std::string& dtype) {
  double bytes = 0;
  for (const graph::CostedNode& costed : cost.nodes) bytes += weights_of(costed.cost, dtype);
  return !stays_in_cache(device, bytes);
}

core::Status check(const Conditions& conditions) {
  if (!conditions.dtype.empty() && !element_bytes(conditions.dtype))
    return core::fail(ErrorCode::invalid_argument, "unknown data type '" + conditions.dtype + "'",
                      "use fp32, tf32, fp16, bf16, fp8, int8, fp4 or int4");
  if (conditions.power_cap_watts && !(*conditions.power_cap_watts > 0))
    return core::fail(ErrorCode::invalid_argument, "the power cap must be above 0 W");
  return {};
}

}  // namespace

core::Result<GraphEstimate> analyze(const graph::Graph& graph, const hardware::Device& device, const Conditions& conditions,
                                    const CalibrationSet* calibrations) {
  AACO_TRY(check(conditions));
  const graph::GraphCost cost = graph::cost_of(graph);
  GraphEstimate out;
  out.device_id = device.id_with_state();
  out.device_name = device.name;
  out.latency.unit = "ns";
  out.latency.level = Level::calibrated;
  out.flops = cost.flops;
  out.weight_bytes = cost.weight_bytes;
  out.unmodelled = cost.unmodelled;
  out.newer = cost.newer;
  out.confidence_ratio = cost.confidence;
  const FusedKernels fused = conditions.fusion != nullptr ? fused_kernels(graph, cost, *conditions.fusion) : FusedKernels();
  const std::optional<OnChip> on_chip = OnChip::of(graph, cost, device, conditions);
  double ends_bytes = on_chip ? on_chip->ends_bytes() : 0;
  const bool cold_weights = weights_are_cold(cost, device, conditions.dtype);
  Analysis analysis(device, conditions, calibrations);
  std::size_t place = 0;
  for (const graph::CostedNode& costed : cost.nodes) {
    if (costed.graph == &graph) place = static_cast<std::size_t>(costed.node - graph.nodes.data());
    if (costed.repeats <= 0 || (conditions.only != nullptr && !(*conditions.only)[place])) continue;
    if (fused.gone.contains(costed.node)) {
      ++out.fused_nodes;
      continue;
    }
    auto kernel = kernel_of(*costed.graph, *costed.node, costed.cost, conditions.dtype);
    if (!kernel) continue;
    move_to_units(costed.cost, device, *kernel);
    use_narrow_weights(costed.cost, device, *kernel);
    const auto behind = fused.by_main.find(costed.node);
    const graph::NodeCost own = without_masked(costed.cost, device);
    graph::NodeCost whole = own;
    if (behind != fused.by_main.end()) {
      whole.flops += behind->second.flops;
      whole.bytes_read = std::max(0.0, whole.bytes_read + behind->second.bytes);
    }
    Work work = work_under(whole, conditions.dtype), alone = fitted_work(own, conditions.dtype);
    if (cold_weights) work.cold_bytes = alone.cold_bytes = weights_of(costed.cost, conditions.dtype);
    std::optional<double> link_bytes;
    if (on_chip)
      link_bytes = on_chip->link_bytes(costed, work) + std::exchange(ends_bytes, 0) / costed.repeats;  // all at the first
    AACO_ASSIGN(NodeEstimate node, analysis.node(*kernel, alone, work, whole.steps, link_bytes));
    if (behind != fused.by_main.end()) node.fused = behind->second.op_types;
    node.place = place;
    node.name = costed.node->name;
    node.op_type = costed.node->op_type;
    node.kind = costed.cost.kind;
    node.repeats = costed.repeats;
    out.bytes += node.work.bytes * node.repeats;
    out.nodes.push_back(std::move(node));
  }
  if (calibrations != nullptr) AACO_TRY(calibrations->status());
  if (out.nodes.empty() && cost.unmodelled.empty())
    return core::fail(ErrorCode::unsupported, "the graph has no device work: its " + std::to_string(cost.nodes.size()) +
                                                  " nodes are views, sizes or constants, or have empty tensors");
  if (out.nodes.empty())
    return core::fail(ErrorCode::unsupported,
                      fmt::format("the graph has no predictable work: none of its {} nodes is modelled and has known shapes "
                                  "({}: {}); only its weights are known, {}",
                                  cost.nodes.size(), cost.unmodelled.front().op_type, cost.unmodelled.front().reason,
                                  core::format_bytes(cost.weight_bytes)),
                      "list them with `aaco inspect`; give sizes with --dim");
  const HostTime host = host_time(device, conditions);
  const Waiting waiting = schedule(device, host, out);
  grade(out);
  add_classes(out);
  add_graph_energy(device, conditions, waiting, out);
  if (on_chip) out.notes.push_back(out.residency = on_chip->note());
  if (out.fused_nodes > 0)
    out.notes.push_back(fmt::format("{} nodes are fused into the kernels of other nodes", out.fused_nodes));
  if (const std::string note = emulation_note(out, device); conditions.eager && !note.empty()) out.notes.push_back(note);
  out.notes.push_back(fmt::format("the host takes {:.3g} µs to issue a node{}", host.seconds * 1e6,
                                  device.kind == hardware::DeviceKind::gpu ? ", asynchronously where possible" : ""));
  return out;
}

}  // namespace aaco::estimation
