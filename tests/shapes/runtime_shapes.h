#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runner/ort_runtime.h"

namespace aaco {

// Null where there is no ONNX Runtime library.
std::shared_ptr<runner::ort::Runtime> open_runtime();

// What both say of every output of every node.
struct ShapeComparison {
  std::string error;                   // the runtime refused the graph: nothing was compared
  std::int64_t compared = 0;           // tensors whose shape the runtime knows
  std::int64_t runtime_unknown = 0;    // tensors whose shape only the catalogue may know
  std::vector<std::string> different;  // "NODE (OP): runtime float32[1, 2], catalogue float32[1, 3]"
};

// `graph`: prepared (graph/load.h). The runtime gets it without what was inferred, all sizes fixed, weights as inputs, every
// output of every node as an output of the model, and no optimisation.
ShapeComparison compare_shapes(runner::ort::Runtime& runtime, const graph::Graph& graph);

}  // namespace aaco
