#include "laboratory/tiny_operators.h"

#include <algorithm>

#include "graph/file_weights.h"
#include "graph/onnx.h"

namespace aaco::laboratory::faults {
namespace {

using core::ErrorCode;

bool is_float(const graph::TensorDescriptor& tensor) {
  return tensor.type == graph::ElementType::float32 || tensor.type == graph::ElementType::float16;
}

}  // namespace

core::Status append_tiny_operators(const std::string& model, std::int64_t count, const std::string& op_type,
                                   const std::string& path) {
  AACO_ASSIGN(graph::Graph graph, graph::onnx::load(model));
  const auto output =
      std::find_if(graph.outputs.begin(), graph.outputs.end(), [&](graph::TensorId id) { return is_float(graph.tensor(id)); });
  if (output == graph.outputs.end())
    return core::fail(ErrorCode::unsupported, model + " has no floating-point output to append operators to");
  // Of a large output operators would move memory: they work on its mean.
  graph::TensorDescriptor mean = graph.tensor(*output);
  mean.name = "aaco_tiny_mean";
  if (mean.shape) mean.shape->assign(mean.shape->size(), graph::Dimension(1));
  graph::TensorId last = graph.add_tensor(std::move(mean));
  graph.nodes.push_back({"aaco_tiny_mean_node", "ReduceMean", "", {*output}, {last}, {}});
  for (std::int64_t i = 0; i < count; ++i) {
    graph::TensorDescriptor next = graph.tensor(last);
    next.name = "aaco_tiny_" + std::to_string(i);
    const graph::TensorId made = graph.add_tensor(std::move(next));
    // Two negations in a row would be folded by no runtime today; two operators taking turns are safe from it for longer.
    graph.nodes.push_back(
        {"aaco_tiny_node_" + std::to_string(i), i % 2 == 0 ? op_type : std::string("Neg"), "", {last}, {made}, {}});
    last = made;
  }
  graph.outputs.push_back(last);
  graph::onnx::FileWeights weights(graph);
  return graph::onnx::write(graph, &weights, path);
}

}  // namespace aaco::laboratory::faults
