#include "graph/rewrite/links.h"

#include <algorithm>
#include <cstring>

#include "graph/file_weights.h"

namespace aaco::graph::rewrite {

TensorLinks::TensorLinks(const Graph& graph) {
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    for (const TensorId id : graph.nodes[at].outputs)
      if (id.valid()) producers_[id.value] = at;
    for (const TensorId id : graph.nodes[at].inputs)
      if (id.valid()) readers_[id.value].push_back(at);
  }
}

std::optional<std::size_t> TensorLinks::producer(TensorId id) const {
  const auto found = producers_.find(id.value);
  return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<std::size_t>& TensorLinks::readers(TensorId id) const {
  static const std::vector<std::size_t> kNone;
  const auto found = readers_.find(id.value);
  return found == readers_.end() ? kNone : found->second;
}

std::optional<std::size_t> sole_reader(const Edit& edit, const TensorLinks& links, TensorId id) {
  const auto& readers = links.readers(id);
  if (readers.size() != 1 || edit.is_output(id) || edit.captured(id)) return std::nullopt;
  return readers.front();
}

bool is_float_constant(const Edit& edit, TensorId id) {
  const Initializer* constant = id.valid() ? edit.constant(id) : nullptr;
  if (constant == nullptr || (constant->constant.data.empty() && !constant->constant.location)) return false;
  const TensorDescriptor& tensor = edit.graph().tensor(id);
  return tensor.type == ElementType::float32 && tensor.shape &&
         std::all_of(tensor.shape->begin(), tensor.shape->end(), [](const Dimension& one) { return one.fixed(); });
}

core::Result<std::vector<float>> read_floats(const Edit& edit, TensorId id) {
  AACO_ASSIGN(const core::SharedBytes bytes, onnx::read_constant(edit.constant(id)->constant));
  const TensorDescriptor& tensor = edit.graph().tensor(id);
  const auto count = static_cast<std::size_t>(element_count(*tensor.shape).value_or(0));
  if (bytes.size() != count * sizeof(float))
    return core::fail(core::ErrorCode::invalid_input,
                      "the weight '" + tensor.name + "' does not have the number of bytes that its shape requires");
  std::vector<float> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace aaco::graph::rewrite
