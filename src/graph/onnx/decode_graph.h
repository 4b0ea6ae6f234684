#pragma once

#include "graph/graph.h"
#include "graph/onnx/wire_reader.h"

namespace aaco::graph::onnx {

// Reads a GraphProto; `depth` counts the graphs around it. The result is linked: names resolved, nodes in a valid order.
Graph decode_graph(Input& input, Range range, int depth);
// Reads a FunctionProto.
Function decode_function(Input& input, Range range);
void decode_opset(Input& input, Range range, std::map<std::string, std::int64_t>& opsets);
// A StringStringEntryProto.
void decode_entry(Input& input, Range range, std::map<std::string, std::string>& entries);

}  // namespace aaco::graph::onnx
