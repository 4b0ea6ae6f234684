#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "graph/fuse/matcher.h"

namespace aaco::graph {

// A Reshape whose shape is joined from sizes of a tensor and from constants.
struct ComputedShape {
  std::size_t joint = 0;  // the Concat
  // What keeps ONNX Runtime from making one constant of it; empty: nothing that is known.
  std::string reason, condition;
  std::optional<std::size_t> part;  // the node at fault
};
// Empty where node `number` is no such Reshape. ONNX Runtime 1.30, found on planted models: a size of the operand at the place
// where it stands in the shape becomes 0, one other part of one element (or one -1) is left open; the joint shape has no other
// reader.
std::optional<ComputedShape> computed_shape(const Graph& graph, const Links& links, std::size_t number);

}  // namespace aaco::graph
