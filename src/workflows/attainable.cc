#include "workflows/attainable.h"

#include <map>
#include <set>

#include "estimation/analysis.h"
#include "graph/load.h"
#include "workflows/hardware.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using core::Json;
using estimation::NodeEstimate;
using graph::OperatorClass;
using graph::TensorId;

core::Status bind_inputs(graph::Graph& graph, const Json& inputs) {
  for (const TensorId id : graph.inputs)
    for (const Json& input : inputs.items()) {
      auto& tensor = graph.tensor(id);
      if (input["name"].text() != tensor.name) continue;
      graph::Shape shape;
      for (const Json& size : input["shape"].items()) shape.emplace_back(size.as_i64().value_or(-1));
      tensor.shape = std::move(shape);
    }
  return {};
}

bool heavy(OperatorClass kind) {
  return kind == OperatorClass::gemm || kind == OperatorClass::convolution || kind == OperatorClass::depthwise ||
         kind == OperatorClass::attention;
}
// What runtimes put behind a heavy operator into one kernel.
bool follows(OperatorClass kind) {
  return kind == OperatorClass::elementwise || kind == OperatorClass::normalisation || kind == OperatorClass::view;
}

// Every tensor that a fused kernel may be named after -> the heavy node at the head of its chain.
class Chains {
 public:
  explicit Chains(const graph::Graph& graph) {
    for (const graph::Node& node : graph.nodes)
      for (const TensorId output : node.outputs)
        if (output.valid()) producers_[output] = &node;
    for (const graph::Node& node : graph.nodes)
      if (const auto* head = head_of(graph, node))
        for (const TensorId output : node.outputs)
          if (output.valid()) aliases_[head->name].insert(graph.tensor(output).name);
  }
  [[nodiscard]] Json aliases(const std::string& node) const {
    Json list = Json::array();
    if (const auto found = aliases_.find(node); found != aliases_.end())
      for (const std::string& name : found->second) list.push(name);
    return list;
  }

 private:
  // Through the first operand that leads to a heavy node; memoised by node, so that long chains cost their length.
  const graph::Node* head_of(const graph::Graph& graph, const graph::Node& node) {
    if (const auto known = heads_.find(&node); known != heads_.end()) return known->second;
    const OperatorClass kind = graph::cost_of(graph, node).kind;
    const graph::Node* head = nullptr;
    if (heavy(kind)) head = &node;
    if (head == nullptr && follows(kind))
      for (const TensorId input : node.inputs) {
        const auto producer = input.valid() ? producers_.find(input) : producers_.end();
        if (producer == producers_.end()) continue;
        if (const auto before = heads_.find(producer->second); before != heads_.end() && before->second != nullptr) {
          head = before->second;
          break;
        }
      }
    heads_[&node] = head;
    return head;
  }

  std::map<TensorId, const graph::Node*> producers_;
  std::map<const graph::Node*, const graph::Node*> heads_;
  std::map<std::string, std::set<std::string>> aliases_;
};

Json node_json(const NodeEstimate& node, const Chains& chains) {
  const auto& why = node.latency.explanation;
  const double least = std::max(why.compute_s, why.memory_s);
  return Json::object({{"name", node.name},
                       {"op_type", node.op_type},
                       {"aliases", chains.aliases(node.name)},
                       {"class", graph::to_string(node.kind)},
                       {"shape", node.shape},
                       {"repeats", node.repeats},
                       {"flops", node.work.flops},
                       {"bytes", node.work.bytes},
                       {"attainable_ns", least * 1e9},
                       {"limit", why.compute_s > why.memory_s ? "compute" : "memory"},
                       {"tile_ratio", node.mapping.tile_ratio},
                       {"wave_ratio", node.mapping.wave_ratio},
                       {"predicted_ns", node.latency.seconds * 1e9},
                       {"predicted_lower_ns", node.latency.lower * 1e9},
                       {"predicted_upper_ns", node.latency.upper * 1e9},
                       {"confidence", to_string(node.latency.level)}});
}

}  // namespace

core::Result<Json> attainable_json(const graph::Graph& given, const Json& inputs, const std::string& dtype,
                                   const Services& services) {
  AACO_ASSIGN(const hardware::Device device, find_device("this", services));
  graph::Graph graph = given;
  AACO_TRY(bind_inputs(graph, inputs));
  AACO_ASSIGN(const graph::Model model, graph::prepare(std::move(graph)));
  estimation::Conditions conditions;
  conditions.dtype = dtype;
  AACO_ASSIGN(const graph::Fusion fusion, usual_fusion(model.graph, device, services.paths));
  conditions.fusion = &fusion;
  AACO_ASSIGN(const auto calibrations, calibrations_for(device, conditions, services.paths));
  AACO_ASSIGN(const auto estimate, estimation::analyze(model.graph, device, conditions, &calibrations));
  const Chains chains(model.graph);
  Json nodes = Json::array();
  for (const NodeEstimate& node : estimate.nodes) nodes.push(node_json(node, chains));
  Json out = Json::object({{"schema_version", 1}, {"device", device.id}, {"device_name", device.name}});
  if (const auto peak = device.peak_ops_per_s("float32"))
    out.set("flops_per_s",
            Json::object({{"value", *peak}, {"source", device.engines.front().rates.empty() ? "" : "hardware registry"}}));
  if (device.memory.bytes_per_s)
    out.set("bytes_per_s",
            Json::object({{"value", device.memory.bytes_per_s->value}, {"source", device.memory.bytes_per_s->source}}));
  out.set("latency", to_json(estimate.latency));
  return out.set("nodes", std::move(nodes));
}

}  // namespace aaco::workflows
