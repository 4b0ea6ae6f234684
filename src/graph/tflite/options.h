#pragma once

#include "graph/graph.h"
#include "graph/tflite/flat_table.h"

namespace aaco::graph::tflite {

// The options that decide an operator's work, under ONNX's names: strides and dilations (height first), filter_height,
// filter_width, adj_x, adj_y, auto_pad.
void read_options(Node& node, const FlatTable& options);

}  // namespace aaco::graph::tflite
