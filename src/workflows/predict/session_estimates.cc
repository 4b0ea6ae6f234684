#include "workflows/predict/session_estimates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/files.h"
#include "estimation/analysis.h"
#include "graph/load.h"
#include "tracelake/lake.h"
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

std::int64_t whole_ns(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

trace::EstimateRow row_of(const NodeEstimate& node, const std::string& device, const Json& aliases, trace::Sink& sink) {
  const auto& why = node.latency.explanation;
  trace::EstimateRow row;
  row.hardware = sink.name(device);
  row.node_name = sink.name(node.name);
  row.aliases = sink.name(aliases.dump(-1));
  row.op_type = sink.name(node.op_type);
  row.fused = sink.name(Json::texts(node.fused).dump(-1));
  row.operator_class = sink.name(graph::to_string(node.kind));
  row.shape = sink.name(node.shape);
  row.data_type = sink.name(node.dtype);
  row.repeat_count = node.repeats;
  row.flops = node.work.flops;
  row.bytes = static_cast<std::int64_t>(std::llround(node.work.bytes));
  row.compute_ns = whole_ns(why.compute_s);
  row.memory_ns = whole_ns(why.memory_s);
  row.floor_ns = whole_ns(why.floor_s);
  row.tile_ratio = node.mapping.tile_ratio;
  row.wave_ratio = node.mapping.wave_ratio;
  row.efficiency_ratio = why.efficiency_ratio;
  row.limit = sink.name(why.limit);
  row.attainable_ns = std::max(row.compute_ns, row.memory_ns);
  row.theoretical_ns = whole_ns(node.theoretical_seconds);
  row.predicted_ns = whole_ns(node.latency.seconds);
  row.predicted_lower_ns = whole_ns(node.latency.lower);
  row.predicted_upper_ns = whole_ns(node.latency.upper);
  row.level = sink.name(to_string(node.latency.level));
  row.source = sink.name(node.latency.source);
  row.method = sink.name(why.method);
  if (node.energy) row.energy_joules = node.energy->joules();
  return row;
}

Json ceiling_json(double value, const std::string& source) { return Json::object({{"value", value}, {"source", source}}); }

Json summary_json(const report::AnalysisReport& report, const hardware::Device& device) {
  Json out = Json::object({{"schema_version", 1}, {"device", device.id}, {"device_name", device.name}});
  if (const auto peak = device.peak_ops_per_s("float32")) out.set("flops_per_s", ceiling_json(*peak, "hardware registry"));
  if (device.memory.bytes_per_s)
    out.set("bytes_per_s", ceiling_json(device.memory.bytes_per_s->value, device.memory.bytes_per_s->source));
  if (const double units = estimation::facts_of(device).compute_units; units > 0) out.set("units", units);
  if (report.tokens) out.set("tokens", to_json(*report.tokens));
  return out.set("estimate", to_json(report.estimate, false));
}

}  // namespace

core::Status store_estimates(const graph::Graph& given, const Json& inputs, const hardware::Device& device, SessionDraft& draft,
                             const Services& services) {
  graph::Graph graph = given;
  AACO_TRY(bind_inputs(graph, inputs));
  AACO_ASSIGN(const graph::Model model, graph::prepare(std::move(graph)));
  AACO_ASSIGN(const auto report, predict(model, "", device, {}, services.paths));
  const Chains chains(model.graph);
  for (const NodeEstimate& node : report.estimate.nodes)
    draft.sink().add(row_of(node, report.estimate.device_id, chains.aliases(node.name), draft.sink()));
  return draft.writer().write_json("predict/estimate_summary.json", summary_json(report, device));
}

core::Result<SessionEstimates> read_estimates(const std::string& session_path) {
  SessionEstimates out;
  const std::string file = core::join_path(session_path, "predict/estimate_summary.json");
  if (!core::exists(file)) return out;
  AACO_ASSIGN(out.summary, core::read_json_file(file));
  AACO_ASSIGN(out.nodes, tracelake::read_table<trace::EstimateRow>(session_path, out.names));
  return out;
}

}  // namespace aaco::workflows
