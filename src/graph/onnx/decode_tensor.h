#pragma once

#include <string>

#include "graph/graph.h"
#include "graph/onnx/wire_reader.h"

namespace aaco::graph::onnx {

// Reads a TensorProto. Its data is kept up to `keep_bytes`; beyond that only its place is noted. External data is never read, and
// its file need not exist.
TensorLiteral decode_tensor(Input& input, Range range, std::int64_t keep_bytes);
// The element type that a number of the file stands for; an error for one that ONNX has not given out.
ElementType decode_element_type(Input& input, std::int64_t number, const std::string& tensor);

}  // namespace aaco::graph::onnx
