#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

// Branches of formats that hand a branch what it reads, as ONNX has them: a body takes what it reads by the names around it.
namespace aaco::graph {

// Makes `node`, which decides by its first input and gives its branches the others, an If over two bodies of `graph`, whose
// tensors have names of their own. False where a body takes more than it is given.
bool make_condition(Graph& graph, Node& node, const std::vector<SubgraphId>& bodies);

// Renames what the graphs in `body` capture.
void rename_captured(Graph& body, const std::string& from, const std::string& to);

}  // namespace aaco::graph
