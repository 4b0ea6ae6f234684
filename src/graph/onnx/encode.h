#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "graph/graph.h"

namespace aaco::graph::onnx {

// Encoded messages of the parts of a graph.
std::string encode_value_info(const TensorDescriptor& descriptor);
core::Result<std::string> encode_node(const Graph& graph, const Node& node);
// A TensorProto without its data; the caller adds raw_data or external_data.
core::Result<std::string> encode_tensor_head(const TensorDescriptor& descriptor);
// A whole GraphProto of a subgraph; every constant in it must keep its data.
core::Result<std::string> encode_subgraph(const Graph& graph);

}  // namespace aaco::graph::onnx
