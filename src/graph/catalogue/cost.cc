#include "graph/cost.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "graph/catalogue/cost_context.h"
#include "graph/catalogue/versions.h"

namespace aaco::graph {
namespace {

// Of the data of TFLite's operators whose first input is a shape, an axis or indices; unknown for all others.
ElementType type_behind_integers(const Graph& graph, const Node& node) {
  for (const char* known : {"TRANSPOSE_CONV", "CONV_3D_TRANSPOSE", "EMBEDDING_LOOKUP", "SPLIT"})
    if (node.domain == "tflite" && node.op_type == known && !node.outputs.empty() && node.outputs[0].valid())
      return graph.tensor(node.outputs[0]).type;
  return ElementType::unknown;
}

// The type the arithmetic is done in: of the first input that is no scale or index.
ElementType arithmetic_type(const Graph& graph, const Node& node) {
  if (const ElementType behind = type_behind_integers(graph, node); behind != ElementType::unknown) return behind;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const TensorId id : *list)
      if (id.valid() && graph.tensor(id).type != ElementType::unknown && graph.tensor(id).type != ElementType::int64)
        return graph.tensor(id).type;
  return !node.outputs.empty() && node.outputs[0].valid() ? graph.tensor(node.outputs[0]).type : ElementType::unknown;
}

NodeCost cost_with(const Graph& graph, const Node& node, const std::vector<bool>& constants) {
  NodeCost cost;
  cost.type = arithmetic_type(graph, node);
  const Entry* entry = find_entry(node.domain, node.op_type);
  if (entry == nullptr || entry->cost == nullptr) {
    if (entry != nullptr) cost.kind = entry->kind;
    cost.reason = "no model of this operator";
    return cost;
  }
  cost.kind = entry->kind;
  CostContext context(graph, node, *entry, constants, cost);
  entry->cost(context);
  cost.known = cost.reason.empty();
  if (cost.known) return cost;
  cost.flops = cost.bytes_read = cost.bytes_written = cost.weight_bytes = 0;
  cost.site = {};
  return cost;
}

std::vector<bool> initial_constants(const Graph& graph) {
  std::vector<bool> constants(graph.tensors.size(), false);
  for (const Initializer& initializer : graph.initializers) constants[index_of(initializer.tensor)] = true;
  return constants;
}

// What is computed from constants alone is computed once, when the model is loaded.
bool folds(const Node& node, const std::vector<bool>& constants) {
  if (node.domain.empty() && node.op_type == "Constant") return true;
  const bool random = node.op_type.starts_with("Random") || node.op_type == "Bernoulli" || node.op_type == "Multinomial";
  // A dequantised weight stays: runtimes fuse it with what reads it.
  if (random || node.inputs.empty() || node.op_type == "DequantizeLinear" || node.op_type == "If" || node.op_type == "Loop" ||
      node.op_type == "Scan")
    return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) { return !id.valid() || constants[index_of(id)]; });
}

double tensor_bytes(const Graph& graph, TensorId id) {
  const TensorDescriptor& tensor = graph.tensor(id);
  if (!tensor.shape) return 0;
  double bytes = element_bits(tensor.type) / 8.0;
  for (const Dimension& dimension : *tensor.shape) {
    if (!dimension.fixed()) return 0;
    bytes *= static_cast<double>(dimension.size);
  }
  return bytes;
}

// Known bytes of the activations a node reads and writes.
double activation_bytes(const Graph& graph, const Node& node, const std::vector<bool>& constants) {
  double bytes = 0;
  for (const TensorId id : node.inputs)
    if (id.valid() && !constants[index_of(id)]) bytes += tensor_bytes(graph, id);
  for (const TensorId id : node.outputs)
    if (id.valid()) bytes += tensor_bytes(graph, id);
  return bytes;
}

// Lists all nodes in order of execution, then adds them up.
class Totals {
 public:
  explicit Totals(GraphCost& out) : out_(out) {}

  // Lists the graph's nodes, run `repeats` times; answers the work in them, so that branches can be compared.
  double walk(const Graph& graph, double repeats) {
    std::vector<bool> constants = initial_constants(graph);
    for (const Initializer& initializer : graph.initializers) out_.weight_bytes += tensor_bytes(graph, initializer.tensor);
    double work = 0;
    for (const Node& node : graph.nodes) {
      const bool folded = folds(node, constants);
      if (folded)
        for (const TensorId id : node.outputs)
          if (id.valid()) constants[index_of(id)] = true;
      CostedNode item{&graph, &node, folded ? 0 : repeats, cost_with(graph, node, constants)};
      work += (item.cost.flops + item.cost.bytes_read + item.cost.bytes_written) * item.repeats;
      out_.nodes.push_back(std::move(item));
      around_.push_back(activation_bytes(graph, node, constants));
      work += bodies(graph, node, repeats);
    }
    return work;
  }

  void finish() {
    double activations = 0;
    std::map<std::string, Unmodelled> unmodelled;
    for (std::size_t at = 0; at < out_.nodes.size(); ++at) {
      const CostedNode& item = out_.nodes[at];
      if (item.repeats == 0) continue;
      const double around = around_[at] * item.repeats;
      if (item.cost.kind != OperatorClass::view && item.cost.kind != OperatorClass::host) activations += around;
      add(item);
      if (item.cost.known) continue;
      const std::string name = item.node->qualified_type();
      Unmodelled& entry = unmodelled[name];
      if (entry.nodes == 0) entry.reason = item.cost.reason;
      entry.op_type = name;
      ++entry.nodes;
      entry.activation_bytes += around;
    }
    settle(unmodelled, activations);
  }

 private:
  // Whether the first of an If's two branches runs: by the condition where it is known, else the costlier one.
  static bool first_runs(const Node& node, SubgraphId first, const std::vector<double>& work) {
    const AttributeValue* held = node.attribute("then_branch");
    const auto* then = held == nullptr ? nullptr : std::get_if<std::vector<SubgraphId>>(held);
    if (!node.trips || then == nullptr || then->size() != 1) return work[0] >= work[1];
    return (then->front() == first) == (*node.trips != 0);
  }

  // Of two branches one is counted; the other stands in the list with no repeats.
  double bodies(const Graph& graph, const Node& node, double repeats) {
    std::vector<SubgraphId> all;
    for (const Attribute& attribute : node.attributes)
      if (const auto* bodies = std::get_if<std::vector<SubgraphId>>(&attribute.value))
        all.insert(all.end(), bodies->begin(), bodies->end());
    const bool branch = node.op_type == "If" && all.size() == 2;
    const double trips = branch ? 1 : static_cast<double>(node.trips.value_or(1));
    std::vector<double> work;
    std::vector<std::size_t> begins;
    for (const SubgraphId body : all) {
      begins.push_back(out_.nodes.size());
      work.push_back(walk(graph.subgraph(body), repeats * trips));
    }
    if (!branch) return std::accumulate(work.begin(), work.end(), 0.0);
    const bool first = first_runs(node, all[0], work);
    const std::size_t begin = first ? begins[1] : begins[0], end = first ? out_.nodes.size() : begins[1];
    for (std::size_t at = begin; at < end; ++at) out_.nodes[at].repeats = 0;
    return first ? work[0] : work[1];
  }

  void add(const CostedNode& item) {
    ClassCost& kind = out_.classes[item.cost.kind];
    ++kind.nodes;
    kind.flops += item.cost.flops * item.repeats;
    kind.bytes_read += item.cost.bytes_read * item.repeats;
    kind.bytes_written += item.cost.bytes_written * item.repeats;
    out_.flops += item.cost.flops * item.repeats;
    out_.bytes_read += item.cost.bytes_read * item.repeats;
    out_.bytes_written += item.cost.bytes_written * item.repeats;
  }

  // A node whose tensors all are unknown hides as much as an average node does.
  void settle(std::map<std::string, Unmodelled>& unmodelled, double activations) {
    double hidden = 0;
    for (auto& [name, item] : unmodelled) {
      item.activation_share = activations > 0 ? item.activation_bytes / activations : 0;
      item.node_share = static_cast<double>(item.nodes) / static_cast<double>(std::max<std::size_t>(1, out_.nodes.size()));
      hidden += item.activation_bytes > 0 ? item.activation_share : item.node_share;
      out_.unmodelled.push_back(std::move(item));
    }
    std::stable_sort(out_.unmodelled.begin(), out_.unmodelled.end(),
                     [](const Unmodelled& a, const Unmodelled& b) { return a.activation_share > b.activation_share; });
    out_.confidence = std::clamp(1 - hidden, 0.0, 1.0);
    for (const NewerVersion& newer : out_.newer) out_.confidence *= 1 - newer.doubt;
  }

  GraphCost& out_;
  std::vector<double> around_;  // activation bytes, by node of the list
};

}  // namespace

std::string_view to_string(OperatorClass kind) {
  static constexpr std::array kNames = {"gemm",    "convolution", "depthwise", "attention", "normalisation",
                                        "softmax", "elementwise", "reduction", "gather",    "copy",
                                        "view",    "pooling",     "resize",    "recurrent", "quantisation",
                                        "sort",    "rng",         "control",   "host",      "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

OperatorClass class_of(const Node& node) {
  const Entry* entry = find_entry(node.domain, node.op_type);
  return entry == nullptr ? OperatorClass::unknown : entry->kind;
}

NodeCost cost_of(const Graph& graph, const Node& node) { return cost_with(graph, node, initial_constants(graph)); }

GraphCost cost_of(const Graph& graph) {
  GraphCost cost;
  Totals totals(cost);
  totals.walk(graph, 1);
  cost.newer = newer_versions(graph, cost.nodes);
  totals.finish();
  return cost;
}

}  // namespace aaco::graph
