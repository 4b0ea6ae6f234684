#include "estimation/memory/liveness.h"

#include <algorithm>
#include <unordered_map>

#include "graph/tensor_bytes.h"

namespace aaco::estimation {
namespace {

using graph::Graph;
using graph::Node;
using graph::OperatorClass;
using graph::TensorId;

std::size_t at(TensorId id) { return static_cast<std::size_t>(id.value); }

bool is_constant_node(const Node& node, const std::vector<bool>& constant) {
  if (node.domain.empty() && node.op_type == "Constant") return true;
  if (node.inputs.empty() || node.op_type.starts_with("Random") || node.op_type == "If" || node.op_type == "Loop" ||
      node.op_type == "Scan")
    return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) { return !id.valid() || constant[at(id)]; });
}

class Assignment {
 public:
  Assignment(const Graph& graph, const MemoryPolicy& policy) : graph_(graph), policy_(policy) {
    out_.of_tensor.assign(graph.tensors.size(), -1);
    out_.constant.assign(graph.tensors.size(), false);
  }

  Buffers run() {
    for (const graph::Initializer& initializer : graph_.initializers) hold_constant(initializer.tensor);
    find_uses();
    for (const TensorId id : graph_.inputs) make(id, -1);
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) place(number);
    keep_outputs();
    return std::move(out_);
  }

 private:
  std::int64_t size_of(TensorId id) {
    const auto bytes = graph::tensor_bytes(graph_.tensor(id));
    if (!bytes) ++out_.unknown;
    return bytes.value_or(0);
  }

  void hold_constant(TensorId id) {
    if (!id.valid() || out_.constant[at(id)]) return;
    out_.constant[at(id)] = true;
    graph::add_size(out_.constant_bytes, size_of(id));
  }

  // The last node that reads each tensor, those inside bodies counted as the node that runs the body.
  void find_uses() {
    last_use_.assign(graph_.tensors.size(), -1);
    std::unordered_map<std::string_view, std::size_t> names;
    if (!graph_.subgraphs.empty())
      for (std::size_t tensor = 0; tensor < graph_.tensors.size(); ++tensor) names.emplace(graph_.tensors[tensor].name, tensor);
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
      for (const TensorId id : graph_.nodes[number].inputs)
        if (id.valid()) last_use_[at(id)] = static_cast<std::int64_t>(number);
      for (const graph::Attribute& attribute : graph_.nodes[number].attributes)
        if (const auto* bodies = std::get_if<std::vector<graph::SubgraphId>>(&attribute.value))
          for (const graph::SubgraphId body : *bodies) note_captured(graph_.subgraph(body), names, number);
    }
    for (const TensorId id : graph_.outputs) last_use_[at(id)] = static_cast<std::int64_t>(graph_.nodes.size());
  }

  void note_captured(const Graph& body, const std::unordered_map<std::string_view, std::size_t>& names, std::size_t number) {
    for (const TensorId id : body.captured)
      if (const auto found = names.find(body.tensor(id).name); found != names.end())
        last_use_[found->second] = std::max(last_use_[found->second], static_cast<std::int64_t>(number));
  }

  void make(TensorId id, std::int64_t node) {
    const std::int64_t bytes = size_of(id);
    if (out_.of_tensor[at(id)] >= 0) return;
    out_.of_tensor[at(id)] = static_cast<std::int32_t>(out_.all.size());
    // The model's own inputs belong to the caller: they stay.
    const auto end = static_cast<std::int64_t>(graph_.nodes.size());
    out_.all.push_back({bytes, node, node < 0 ? end : std::max(node, last_use_[at(id)]), id});
  }

  void share(TensorId id, std::int32_t buffer) {
    out_.of_tensor[at(id)] = buffer;
    Buffers::Buffer& held = out_.all[static_cast<std::size_t>(buffer)];
    held.last = std::max(held.last, last_use_[at(id)]);
  }

  void place(std::size_t number) {
    const Node& node = graph_.nodes[number];
    if (is_constant_node(node, out_.constant)) {
      for (const TensorId id : node.outputs) hold_constant(id);
      return;
    }
    const OperatorClass kind = graph::class_of(node);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      const TensorId id = node.outputs[output];
      if (!id.valid()) continue;
      if (output == 0)
        if (const std::int32_t buffer = reusable(node, id, kind, static_cast<std::int64_t>(number)); buffer >= 0) {
          share(id, buffer);
          continue;
        }
      make(id, static_cast<std::int64_t>(number));
    }
  }

  // The buffer of an input that the output may lie in: a view of it, or an element-wise result over an input of the same size
  // that nobody reads afterwards.
  std::int32_t reusable(const Node& node, TensorId output, OperatorClass kind, std::int64_t number) {
    if (node.inputs.empty()) return -1;
    const TensorId first = node.inputs[0];
    if (kind == OperatorClass::view && first.valid()) return out_.of_tensor[at(first)];
    const bool over =
        kind == OperatorClass::elementwise || kind == OperatorClass::normalisation || kind == OperatorClass::softmax;
    if (!policy_.reuses_inputs || !over) return -1;
    const auto bytes = bytes_or_zero(output);
    for (const TensorId id : node.inputs) {
      if (!id.valid() || out_.of_tensor[at(id)] < 0) continue;
      const Buffers::Buffer& held = out_.all[static_cast<std::size_t>(out_.of_tensor[at(id)])];
      if (held.first >= 0 && held.last == number && held.bytes == bytes && bytes > 0) return out_.of_tensor[at(id)];
    }
    return -1;
  }

  std::int64_t bytes_or_zero(TensorId id) {
    const std::int64_t before = out_.unknown;
    const std::int64_t bytes = size_of(id);
    out_.unknown = before;
    return bytes;
  }

  void keep_outputs() {
    for (const TensorId id : graph_.outputs)
      if (out_.of_tensor[at(id)] >= 0)
        out_.all[static_cast<std::size_t>(out_.of_tensor[at(id)])].last = static_cast<std::int64_t>(graph_.nodes.size());
  }

  const Graph& graph_;
  const MemoryPolicy& policy_;
  Buffers out_;
  std::vector<std::int64_t> last_use_;
};

}  // namespace

Buffers assign_buffers(const Graph& graph, const MemoryPolicy& policy) { return Assignment(graph, policy).run(); }

}  // namespace aaco::estimation
