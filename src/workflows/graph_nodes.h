#pragma once

#include <string>
#include <vector>

#include "analytics/node_order.h"
#include "core/result.h"
#include "graph/load.h"

namespace aaco::workflows {

// What order, name and size can join kernels to: the nodes of a graph in order of execution.
struct GraphNodes {
  std::string source;  // "model.onnx", "graph_nodes", "node_executions"; empty: nothing tells of a graph
  std::vector<analytics::node_order::Node> nodes;
};

// Of a model's file, with the work and size of each node.
GraphNodes nodes_of(const graph::Model& model, std::string source);
// Of a session: its graph (a MIGraphX program names the kernels it compiled), else the nodes that ONNX Runtime executed on a
// device.
core::Result<GraphNodes> session_nodes(const std::string& session_path);

}  // namespace aaco::workflows
