#pragma once

#include "graph/graph.h"
#include "graph/onnx/wire_reader.h"

namespace aaco::graph::onnx {

// Reads an AttributeProto of a node of `graph`; bodies go into graph.subgraphs.
Attribute decode_attribute(Input& input, Range range, Graph& graph, int depth);

}  // namespace aaco::graph::onnx
