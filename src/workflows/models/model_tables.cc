#include "workflows/models/model_tables.h"

#include <unordered_map>

#include "workflows/models/graph_json.h"

namespace aaco::workflows {
namespace {

using core::Json;

Json meta_json(const graph::Graph& graph) {
  std::map<std::string, std::int64_t> operators;
  for (const auto& node : graph.nodes) ++operators[node.op_type];
  Json counts = Json::object();
  for (const auto& [name, count] : operators) counts.set(name, count);
  const graph::ConstantTotals totals = total_constants(graph);
  return Json::object({{"schema_version", 1},
                       {"name", graph.name},
                       {"producer", graph.producer},
                       {"ir_version", graph.format_version},
                       {"opsets", opsets_json(graph)},
                       {"node_count", graph.nodes.size()},
                       {"initializer_elements", totals.elements},
                       {"initializer_bytes", totals.bytes},
                       {"operators", std::move(counts)},
                       {"inputs", tensors_json(graph, graph.inputs)},
                       {"outputs", tensors_json(graph, graph.outputs)}});
}

class TableWriter {
 public:
  TableWriter(const graph::Graph& graph, trace::Sink& sink) : graph_(graph), sink_(sink) {}

  void write() {
    for (const auto& initializer : graph_.initializers) constants_.emplace(initializer.tensor, true);
    std::int64_t index = 0;
    for (const auto& node : graph_.nodes) {
      add_node(node, index);
      for (const auto input : node.inputs)
        if (input.valid() && !constants_.contains(input)) add_edge(input, producer(input), index);
      for (const auto output : node.outputs)
        if (output.valid()) producers_[output] = index;
      ++index;
    }
    for (const auto output : graph_.outputs) add_edge(output, producer(output), -1);
  }

 private:
  void add_node(const graph::Node& node, std::int64_t index) {
    trace::GraphNodeRow row;
    row.node_index = index;
    row.node_name = sink_.name(node.name);
    row.op_type = sink_.name(node.op_type);
    row.domain = sink_.name(node.domain);
    std::int64_t parameters = 0;
    for (const auto input : node.inputs)
      if (input.valid() && constants_.contains(input) && graph_.tensor(input).shape)
        parameters += element_count(*graph_.tensor(input).shape).value_or(0);
    row.parameter_count = parameters;
    sink_.add(row);
  }

  void add_edge(graph::TensorId tensor, std::int64_t from, std::int64_t to) {
    const auto& descriptor = graph_.tensor(tensor);
    trace::GraphEdgeRow row;
    row.tensor = sink_.name(descriptor.name);
    row.source_node = from;
    row.target_node = to;
    row.data_type = sink_.name(to_string(descriptor.type));
    row.shape = sink_.name(descriptor.shape ? shape_json(*descriptor.shape).dump(-1) : "");
    sink_.add(row);
  }

  [[nodiscard]] std::int64_t producer(graph::TensorId tensor) const {
    const auto found = producers_.find(tensor);
    return found == producers_.end() ? -1 : found->second;
  }

  const graph::Graph& graph_;
  trace::Sink& sink_;
  std::unordered_map<graph::TensorId, bool> constants_;
  std::unordered_map<graph::TensorId, std::int64_t> producers_;
};

}  // namespace

core::Status store_model_tables(const graph::Graph& graph, SessionDraft& draft) {
  AACO_TRY(draft.writer().write_json("model/model_meta.json", meta_json(graph)));
  TableWriter(graph, draft.sink()).write();
  return draft.sink().status();
}

}  // namespace aaco::workflows
