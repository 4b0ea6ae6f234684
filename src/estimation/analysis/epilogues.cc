#include "estimation/analysis/epilogues.h"

#include <algorithm>

namespace aaco::estimation {
namespace {

using graph::CostedNode;
using graph::Graph;
using graph::Node;
using graph::OperatorClass;
using graph::TensorId;

bool is_product(OperatorClass kind) {
  return kind == OperatorClass::gemm || kind == OperatorClass::convolution || kind == OperatorClass::depthwise;
}

// Who makes and who reads the tensors of one graph.
struct Wiring {
  std::map<TensorId, const CostedNode*> producer;
  std::map<TensorId, int> readers;
  std::set<TensorId> constants, kept;  // weights; results of the graph

  explicit Wiring(const Graph& graph) {
    for (const auto& initializer : graph.initializers) constants.insert(initializer.tensor);
    kept.insert(graph.outputs.begin(), graph.outputs.end());
    for (const Node& node : graph.nodes)
      for (const TensorId input : node.inputs)
        if (input.valid()) ++readers[input];
    // Bodies may read tensors of the graph around them.
    for (const Graph& body : graph.subgraphs)
      for (const TensorId captured : body.captured)
        for (std::size_t id = 0; id < graph.tensors.size(); ++id)
          if (graph.tensors[id].name == body.tensor(captured).name) ++readers[TensorId{static_cast<std::int32_t>(id)}];
  }
};

double tensor_bytes(const Graph& graph, TensorId id) {
  const auto& tensor = graph.tensor(id);
  const auto count = tensor.shape ? graph::element_count(*tensor.shape) : std::nullopt;
  const auto bytes = count ? graph::bytes_of(tensor.type, *count) : std::nullopt;
  return bytes ? static_cast<double>(*bytes) : 0;
}

class Finder {
 public:
  explicit Finder(Epilogues& out) : out_(out) {}

  void take(const CostedNode& costed) {
    Wiring& wiring = wiring_of(*costed.graph);
    if (const Node* product = product_before(costed, wiring)) fuse(costed, *product, wiring);
    if (!out_.gone.contains(costed.node) && is_product(costed.cost.kind)) heads_[costed.node] = costed.node;
    for (const TensorId output : costed.node->outputs)
      if (output.valid()) wiring.producer[output] = &costed;
  }

 private:
  Wiring& wiring_of(const Graph& graph) {
    const auto found = wirings_.find(&graph);
    return found != wirings_.end() ? found->second : wirings_.emplace(&graph, Wiring(graph)).first->second;
  }

  // The product whose result this node alone reads, through nodes that run with it already.
  const Node* product_before(const CostedNode& costed, const Wiring& wiring) const {
    const bool folds = costed.node->op_type == "BatchNormalization";
    if (!folds && costed.cost.kind != OperatorClass::elementwise) return nullptr;
    for (const TensorId input : costed.node->inputs) {
      if (!input.valid() || wiring.kept.contains(input)) continue;
      const auto producer = wiring.producer.find(input);
      const auto readers = wiring.readers.find(input);
      if (producer == wiring.producer.end() || readers == wiring.readers.end() || readers->second != 1) continue;
      const auto head = heads_.find(producer->second->node);
      if (head != heads_.end()) return head->second;
    }
    return nullptr;
  }

  void fuse(const CostedNode& costed, const Node& product, const Wiring& wiring) {
    auto& fused = out_.behind[&product];
    fused.op_types.push_back(costed.node->op_type);
    if (costed.node->op_type != "BatchNormalization")
      for (const TensorId input : costed.node->inputs) {
        if (!input.valid() || wiring.constants.contains(input)) continue;
        const auto producer = wiring.producer.find(input);
        const bool own = producer != wiring.producer.end() && heads_.contains(producer->second->node) &&
                         heads_.at(producer->second->node) == &product;
        if (!own) fused.extra_read_bytes += tensor_bytes(*costed.graph, input);
      }
    out_.gone.insert(costed.node);
    heads_[costed.node] = &product;
  }

  Epilogues& out_;
  std::map<const Graph*, Wiring> wirings_;
  std::map<const Node*, const Node*> heads_;  // a product, or what runs with it -> the product
};

}  // namespace

Epilogues find_epilogues(const graph::GraphCost& cost) {
  Epilogues out;
  Finder finder(out);
  for (const CostedNode& costed : cost.nodes) finder.take(costed);
  return out;
}

}  // namespace aaco::estimation
