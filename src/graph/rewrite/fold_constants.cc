#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "graph/known_values.h"
#include "graph/rewrite/clean.h"
#include "graph/rewrite/edit.h"
#include "graph/shapes.h"

namespace aaco::graph::rewrite {
namespace {

template <class T>
void append_number(std::vector<std::byte>& bytes, std::int64_t number) {
  const T value = static_cast<T>(number);
  const auto* data = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), data, data + sizeof(T));
}

std::vector<std::byte> bytes_of_integers(ElementType type, const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes;
  for (const std::int64_t number : numbers) {
    if (type == ElementType::int64)
      append_number<std::int64_t>(bytes, number);
    else if (type == ElementType::int32)
      append_number<std::int32_t>(bytes, number);
    else
      append_number<std::uint8_t>(bytes, number != 0 ? 1 : 0);
  }
  return bytes;
}

const TensorLiteral* literal_of(const Node& node) {
  if (!node.domain.empty() || node.op_type != "Constant") return nullptr;
  const AttributeValue* value = node.attribute("value");
  const auto* literal = value == nullptr ? nullptr : std::get_if<TensorLiteral>(value);
  return literal == nullptr || !literal->descriptor.shape || (literal->constant.data.empty() && !literal->constant.location)
             ? nullptr
             : literal;
}

// The constant that the node only gives another shape, where that shape is known; null: it does not.
const Initializer* moved_constant(const Edit& edit, const Graph& typed, const Node& node) {
  const std::string& op = node.op_type;
  if (!node.domain.empty() || node.inputs.empty() || !node.inputs[0].valid()) return nullptr;
  if (op != "Reshape" && op != "Flatten" && op != "Squeeze" && op != "Unsqueeze") return nullptr;
  const Initializer* constant = edit.constant(node.inputs[0]);
  const auto &in = typed.tensor(node.inputs[0]).shape, &out = typed.tensor(node.outputs[0]).shape;
  const bool same = constant != nullptr && in && out && element_count(*out) && element_count(*in) == element_count(*out);
  return same && (!constant->constant.data.empty() || constant->constant.location) ? constant : nullptr;
}

bool can_fold(const Edit& edit, const Graph& typed, const Node& node, const std::vector<std::optional<KnownIntegers>>& known) {
  if (node.outputs.size() != 1 || !node.outputs[0].valid() || edit.is_output(node.outputs[0])) return false;
  if (literal_of(node) != nullptr || moved_constant(edit, typed, node) != nullptr) return true;
  const auto& value = known[index_of(node.outputs[0])];
  return value && !value->elements.empty();
}

Graph with_shapes(const Graph& graph) {
  Graph typed = graph;
  infer_shapes(typed);
  return typed;
}

}  // namespace

std::vector<std::size_t> find_constant_nodes(const Graph& graph) {
  const auto known = known_integers(graph);
  Graph typed = with_shapes(graph);
  const Edit edit(typed);
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < graph.nodes.size(); ++at)
    if (can_fold(edit, typed, graph.nodes[at], known)) found.push_back(at);
  return found;
}

std::int64_t fold_constants(Graph& graph) {
  const auto known = known_integers(graph);
  const Graph typed = with_shapes(graph);
  const auto found = find_constant_nodes(graph);
  Edit edit(graph);
  for (const std::size_t at : found) {
    const Node& node = graph.nodes[at];
    const TensorId id = node.outputs[0];
    TensorDescriptor& tensor = graph.tensor(id);
    if (const TensorLiteral* literal = literal_of(node)) {
      tensor.type = literal->descriptor.type;
      tensor.shape = literal->descriptor.shape;
      edit.make_constant(id, literal->constant);
    } else if (const Initializer* moved = moved_constant(edit, typed, node); moved != nullptr && !known[index_of(id)]) {
      tensor.type = graph.tensor(moved->tensor).type;
      tensor.shape = typed.tensor(id).shape;
      edit.make_constant(id, Constant(moved->constant));
    } else {
      const KnownIntegers& value = *known[index_of(id)];
      tensor.type = value.type;
      tensor.shape = Shape(value.dims.begin(), value.dims.end());
      edit.make_constant(id, {bytes_of_integers(tensor.type, value.elements), std::nullopt});
    }
    edit.remove(at);
  }
  edit.finish();
  return static_cast<std::int64_t>(found.size());
}

}  // namespace aaco::graph::rewrite
