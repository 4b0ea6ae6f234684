#include <algorithm>
#include <cstring>
#include <numeric>

#include "graph/rewrite/clean.h"
#include "graph/rewrite/edit.h"
#include "graph/shapes.h"

namespace aaco::graph::rewrite {
namespace {

bool is_fixed(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dimension& dimension) { return dimension.fixed(); });
}

bool same_fixed_shape(const Graph& graph, const Node& node) {
  const auto &in = graph.tensor(node.inputs[0]).shape, &out = graph.tensor(node.outputs[0]).shape;
  return in && out && is_fixed(*in) && *in == *out;
}

bool keeps_order(const Node& node) {
  const auto permutation = node.ints_or("perm", {});
  std::vector<std::int64_t> order(permutation.size());
  std::iota(order.begin(), order.end(), 0);
  return !permutation.empty() && permutation == order;
}

// Dropout trains only where its third input says so (from opset 12 on).
bool is_inactive_dropout(const Edit& edit, const Node& node) {
  if (node.outputs.size() > 1 && node.outputs[1].valid()) return false;
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) return node.int_or("is_test", 1) == 1;
  const Initializer* training = edit.constant(node.inputs[2]);
  return training != nullptr && training->constant.data == std::vector<std::byte>{std::byte{0}};
}

bool pads_nothing(const Edit& edit, const Node& node) {
  if (node.attribute("pads") != nullptr) {
    const auto pads = node.ints_or("pads", {1});
    return std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
  }
  const Initializer* pads = node.inputs.size() > 1 ? edit.constant(node.inputs[1]) : nullptr;
  return pads != nullptr && !pads->constant.data.empty() &&
         std::all_of(pads->constant.data.begin(), pads->constant.data.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool passes_on(const Edit& edit, const Graph& typed, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || !node.inputs[0].valid() || !node.outputs[0].valid())
    return false;
  const std::string& op = node.op_type;
  if (op == "Identity") return true;
  if (op == "Dropout") return is_inactive_dropout(edit, node);
  if (op == "Transpose") return keeps_order(node);
  if (op == "Concat" || op == "Sum" || op == "Max" || op == "Min" || op == "Mean") return node.inputs.size() == 1;
  if (op == "Pad") return pads_nothing(edit, node);
  if (op == "Reshape" || op == "Flatten" || op == "Expand" || op == "Squeeze" || op == "Unsqueeze")
    return same_fixed_shape(typed, node);
  if (op != "Cast") return false;
  const ElementType from = typed.tensor(node.inputs[0]).type;
  return from != ElementType::unknown && node.int_or("to", 0) == onnx_number(from);
}

}  // namespace

std::vector<std::size_t> find_no_ops(const Graph& graph) {
  Graph typed = graph;
  infer_shapes(typed);
  Graph unchanged = graph;
  const Edit edit(unchanged);
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    const Node& node = graph.nodes[at];
    if (passes_on(edit, typed, node) && !edit.is_output(node.outputs[0]) && !edit.captured(node.outputs[0])) found.push_back(at);
  }
  return found;
}

std::int64_t remove_no_ops(Graph& graph) {
  const auto found = find_no_ops(graph);
  Edit edit(graph);
  for (const std::size_t at : found) {
    edit.redirect(graph.nodes[at].outputs[0], graph.nodes[at].inputs[0]);
    edit.remove(at);
  }
  edit.finish();
  return static_cast<std::int64_t>(found.size());
}

}  // namespace aaco::graph::rewrite
