#pragma once

#include "core/result.h"
#include "graph/graph.h"

// Graphs that operators of another graph run. Tensors have names of their own throughout a file (load.cc sees to it).
namespace aaco::graph::tflite {

// Puts the nodes of `body` in place of a node that runs it once. False where their inputs or outputs do not fit.
bool put_in(Graph& graph, const Node& node, Graph body);

}  // namespace aaco::graph::tflite
