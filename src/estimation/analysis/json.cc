#include "estimation/analysis.h"

namespace aaco::estimation {
namespace {

using core::Json;

Json why_json(const NodeEstimate& node) {
  const Explanation& why = node.latency.explanation;
  Json reasons = Json::texts(node.mapping.reasons);
  return Json::object({{"limit", why.limit},
                       {"compute_ns", why.compute_s * 1e9},
                       {"memory_ns", why.memory_s * 1e9},
                       {"floor_ns", why.floor_s * 1e9},
                       {"tile_ratio", node.mapping.tile_ratio},
                       {"wave_ratio", node.mapping.wave_ratio},
                       {"pipeline_ratio", node.mapping.pipeline_ratio},
                       {"efficiency_ratio", why.efficiency_ratio},
                       {"method", why.method},
                       {"engine", node.mapping.engine},
                       {"computed_as", node.mapping.computed_as},
                       {"fed_by", node.mapping.level},
                       {"tiles", node.mapping.tiles},
                       {"waves", node.mapping.waves},
                       {"reasons", std::move(reasons)}});
}

Json parts_json(const EnergyParts& energy) {
  return Json::object({{"compute_joules", energy.compute_joules},
                       {"movement_joules", energy.movement_joules},
                       {"static_joules", energy.static_joules}});
}

Json energy_json(const EnergyEstimate& energy) {
  Json out = to_json(Estimate{energy.joules(), "J", energy.level, energy.source, energy.lower, energy.upper});
  const Json parts = parts_json(energy.parts);
  for (const auto& [name, value] : parts.members()) out.set(name, value);
  return out;
}

Json node_json(const NodeEstimate& node) {
  const Estimate latency{node.latency.seconds * 1e9, "ns", node.latency.level, node.latency.source, node.latency.lower * 1e9,
                         node.latency.upper * 1e9};
  Json out = Json::object({{"name", node.name},
                           {"op_type", node.op_type},
                           {"class", graph::to_string(node.kind)},
                           {"shape", node.shape},
                           {"dtype", node.dtype},
                           {"repeats", node.repeats},
                           {"flops", node.work.flops},
                           {"bytes", node.work.bytes},
                           {"latency", to_json(latency)},
                           {"why", why_json(node)}});
  if (!node.device.empty()) out.set("device", node.device);
  if (!node.fused.empty()) {
    Json fused = Json::texts(node.fused);
    out.set("fused", std::move(fused));
  }
  if (node.energy) out.set("energy", energy_json(*node.energy));
  if (node.clock_ratio < 1) out.set("clock_ratio", node.clock_ratio);
  return out;
}

Json memory_json(const MemoryParts& parts) {
  Json out = Json::object({{"weight_bytes", parts.weight_bytes},
                           {"activation_bytes", parts.activation_bytes},
                           {"workspace_bytes", parts.workspace_bytes},
                           {"kv_cache_bytes", parts.kv_cache_bytes}});
  if (parts.device_bytes > 0) out.set("device_bytes", parts.device_bytes);
  if (!parts.peak_node.empty()) out.set("peak_node", parts.peak_node);
  Json timeline = Json::array();
  for (const MemoryPoint& point : parts.timeline)
    timeline.push(Json::object(
        {{"node", point.node}, {"activation_bytes", point.activation_bytes}, {"workspace_bytes", point.workspace_bytes}}));
  if (!parts.timeline.empty()) out.set("timeline", std::move(timeline));
  return out;
}

Json classes_json(const std::map<std::string, ClassEstimate>& classes) {
  Json out = Json::object();
  for (const auto& [name, one] : classes)
    out.set(name, Json::object({{"nodes", one.nodes},
                                {"latency_ns", one.seconds * 1e9},
                                {"energy_joules", one.joules},
                                {"flops", one.flops},
                                {"bytes", one.bytes}}));
  return out;
}

Json unmodelled_json(const std::vector<graph::Unmodelled>& list) {
  Json out = Json::array();
  for (const auto& one : list)
    out.push(Json::object(
        {{"op_type", one.op_type}, {"reason", one.reason}, {"nodes", one.nodes}, {"activation_ratio", one.activation_share}}));
  return out;
}

}  // namespace

Json to_json(const Estimate& estimate) {
  return Json::object({{"value", estimate.value},
                       {"unit", estimate.unit},
                       {"confidence", to_string(estimate.level)},
                       {"source", estimate.source},
                       {"lower", estimate.lower},
                       {"upper", estimate.upper}});
}

Json to_json(const GraphEstimate& e, bool nodes) {
  Json out = Json::object({{"device", e.device_id}, {"device_name", e.device_name}, {"latency", to_json(e.latency)}});
  out.set("latency_parts", Json::object({{"device_ns", e.device_seconds * 1e9},
                                         {"host_exposed_ns", e.host_exposed_seconds * 1e9},
                                         {"host_overlapped_ns", e.overlapped_seconds * 1e9}}));
  if (e.memory) out.set("memory", to_json(*e.memory)).set("memory_parts", memory_json(e.memory_parts));
  if (e.energy)
    out.set("energy", to_json(*e.energy)).set("energy_parts", parts_json(e.energy_parts)).set("power", to_json(*e.power));
  if (e.least_clock_ratio < 1) out.set("least_clock_ratio", e.least_clock_ratio);
  out.set("fused_nodes", e.fused_nodes);
  out.set("flops", e.flops).set("bytes", e.bytes).set("weight_bytes", e.weight_bytes);
  out.set("classes", classes_json(e.classes)).set("confidence_ratio", e.confidence_ratio);
  out.set("unmodelled", unmodelled_json(e.unmodelled));
  if (!e.newer.empty()) out.set("newer_versions", graph::to_json(e.newer));
  Json notes = Json::texts(e.notes);
  out.set("notes", std::move(notes));
  if (!nodes) return out;
  Json list = Json::array();
  for (const NodeEstimate& node : e.nodes) list.push(node_json(node));
  return out.set("nodes", std::move(list));
}

}  // namespace aaco::estimation
