#include <cmath>

#include "graph/rewrite/links.h"
#include "graph/rewrite/static_int8.h"
#include "graph/rewrite/value_bytes.h"

namespace aaco::graph::rewrite {
namespace {

constexpr double kDefaultEpsilon = 1e-5;  // of BatchNormalization

struct Pair {
  std::size_t convolution = 0, normalization = 0;
};

std::optional<Pair> pair_at(const Edit& edit, const TensorLinks& links, std::size_t at) {
  const Node& node = edit.graph().nodes[at];
  if (node.op_type != "Conv" || !node.domain.empty() || node.inputs.size() < 2 || node.outputs.size() != 1) return std::nullopt;
  const auto next = sole_reader(edit, links, node.outputs[0]);
  if (!next) return std::nullopt;
  const Node& norm = edit.graph().nodes[*next];
  if (norm.op_type != "BatchNormalization" || !norm.domain.empty() || norm.inputs.size() != 5 || norm.outputs.size() != 1 ||
      norm.int_or("training_mode", 0) != 0)
    return std::nullopt;
  if (!is_float_constant(edit, node.inputs[1])) return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2].valid() && !is_float_constant(edit, node.inputs[2])) return std::nullopt;
  for (std::size_t i = 1; i < norm.inputs.size(); ++i)
    if (!is_float_constant(edit, norm.inputs[i])) return std::nullopt;
  return Pair{at, *next};
}

core::Status fold(Edit& edit, const Pair& pair) {
  const Graph& graph = edit.graph();
  Node convolution = graph.nodes[pair.convolution];
  const Node& norm = graph.nodes[pair.normalization];
  AACO_ASSIGN(std::vector<float> weights, read_floats(edit, convolution.inputs[1]));
  std::vector<std::vector<float>> terms;  // scale, shift, mean, variance
  for (std::size_t i = 1; i < norm.inputs.size(); ++i) {
    AACO_ASSIGN(terms.emplace_back(), read_floats(edit, norm.inputs[i]));
  }
  const std::size_t channels = terms[0].size();
  std::vector<float> bias(channels, 0);
  if (convolution.inputs.size() > 2 && convolution.inputs[2].valid()) {
    AACO_ASSIGN(bias, read_floats(edit, convolution.inputs[2]));
  }
  if (channels == 0 || weights.size() % channels != 0 || bias.size() != channels || terms[1].size() != channels ||
      terms[2].size() != channels || terms[3].size() != channels)
    return core::fail(core::ErrorCode::invalid_input,
                      "the normalization '" + norm.name + "' has another number of channels than the convolution before it");
  const double epsilon = norm.float_or("epsilon", kDefaultEpsilon);
  const std::size_t run = weights.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double factor = terms[0][channel] / std::sqrt(terms[3][channel] + epsilon);
    for (std::size_t i = 0; i < run; ++i) weights[channel * run + i] = static_cast<float>(weights[channel * run + i] * factor);
    bias[channel] = static_cast<float>((bias[channel] - terms[2][channel]) * factor + terms[1][channel]);
  }
  std::vector<std::int64_t> dims;
  for (const Dimension& one : *graph.tensor(convolution.inputs[1]).shape) dims.push_back(one.size);
  const std::string name = graph.tensor(convolution.inputs[1]).name + "/folded";
  convolution.inputs = {
      convolution.inputs[0], edit.add_constant(name, ElementType::float32, dims, dense_bytes(weights)),
      edit.add_constant(name + "/bias", ElementType::float32, {static_cast<std::int64_t>(channels)}, dense_bytes(bias))};
  convolution.outputs = norm.outputs;
  edit.replace(pair.convolution, {std::move(convolution)});
  edit.remove(pair.normalization);
  return {};
}

}  // namespace

core::Status fold_batch_norms(Graph& graph) {
  Edit edit(graph);
  const TensorLinks links(graph);
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < graph.nodes.size(); ++at)
    if (const auto pair = pair_at(edit, links, at)) pairs.push_back(*pair);
  for (const Pair& pair : pairs) AACO_TRY(fold(edit, pair));
  edit.finish();
  return {};
}

}  // namespace aaco::graph::rewrite
