#include "report/attainable_section.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const Attainable::Node& node) {
  Json out = Json::object({{"name", node.name}, {"op_type", node.op_type}});
  out.set_if("graph_node", node.graph_node);
  out.set("shape", node.shape);
  out.set_if("dtype", node.dtype).set_if("count", node.count).set_if("kernel_count", node.kernel_count);
  out.set("measured_ns", node.measured_ns).set("attainable_ns", node.attainable_ns).set("gap_ns", node.gap_ns());
  out.set_if("predicted_ns", node.predicted_ns);
  out.set_if("predicted_lower_ns", node.predicted_lower_ns).set_if("predicted_upper_ns", node.predicted_upper_ns);
  out.set("confidence", node.confidence).set("limit", node.limit).set("reason", node.reason);
  return out.set("surprise", node.surprise);
}

Json to_json(const Attainable::Whole& whole) {
  Json out = Json::object({{"predicted", to_json(whole.predicted)}});
  return out.set_if("measured_ns", whole.measured_ns).set_if("surprise", whole.surprise);
}

Json to_json(const Attainable::Energy& energy) {
  Json out = Json::object({{"predicted", to_json(energy.predicted)}});
  out.set_if("tokens", energy.tokens).set_if("measured_joules", energy.measured_joules);
  out.set_if("measured_lower_joules", energy.measured_lower_joules);
  out.set_if("measured_upper_joules", energy.measured_upper_joules);
  return out.set_if("surprise", energy.surprise);
}

}  // namespace

Json to_json(const Prediction& prediction) {
  return Json::object({{"value", prediction.value},
                       {"unit", prediction.unit},
                       {"confidence", prediction.confidence},
                       {"source", prediction.source},
                       {"lower", prediction.lower},
                       {"upper", prediction.upper}});
}

Prediction prediction_from(const Json& estimate) {
  const auto number = [&](std::string_view key) { return estimate[key].as_f64().value_or(0); };
  const auto text = [&](std::string_view key) { return std::string(estimate[key].text()); };
  return {number("value"), number("lower"), number("upper"), text("unit"), text("confidence"), text("source")};
}

Json to_json(const Attainable& section) {
  Json out = Json::object({{"device", section.device}});
  out.set_if("title", section.title).set_if("note", section.note);
  if (section.whole) out.set("whole", to_json(*section.whole));
  if (section.memory) out.set("memory", to_json(*section.memory));
  if (section.energy) out.set("energy", to_json(*section.energy));
  out.set_if("explained_ratio", section.explained_ratio);
  out.set_if("measured_ns", section.measured_ns).set_if("attainable_ns", section.attainable_ns);
  if (section.unmatched_nodes) out.set("unmatched_nodes", *section.unmatched_nodes).set_if("unmatched_ns", section.unmatched_ns);
  out.set_if("surprises", section.surprises);
  if (!section.nodes.empty()) {
    Json nodes = Json::array();
    for (const Attainable::Node& node : section.nodes) nodes.push(to_json(node));
    out.set("nodes", std::move(nodes));
  }
  return out.set_if("unmatched_ns", section.unmatched_ns);
}

}  // namespace aaco::report
