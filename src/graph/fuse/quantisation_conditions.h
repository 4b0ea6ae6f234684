#pragma once

#include <cstddef>
#include <optional>

#include "graph/fuse/unmet.h"

namespace aaco::graph {

// Of a scale or zero point (`id`, an operand of node `number`): that it is the same as one of another step, or that it is the
// least value of its type, as the condition has it.
std::optional<Unmet> unmet_quantisation(const Graph& graph, const Links& links, const ValueCondition& condition,
                                        const Match& match, TensorId id, std::size_t number);
// ONNX Runtime 1.30, found on planted models: a bias (`id`) that is quantised has the product of the scales of the other two
// operands, all three constants; one that is not is a constant itself, and then so are these scales.
std::optional<Unmet> unmet_bias(const Graph& graph, const Links& links, const Node& node, TensorId id, std::size_t number);

}  // namespace aaco::graph
