#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

// TFLite models (schema version 3). Builtin operators get the domain "tflite" and their name in the schema ("CONV_2D"), custom
// ones "custom:NAME"; IF becomes If, the body of a WHILE is counted once. Shapes are the file's. An open batch ("shape_signature"
// with -1 in front) follows through all tensors that have it; other open sizes keep the file's example. Weights are not read.
namespace aaco::graph::tflite {

// Fails with invalid_input on damage, another version, an unknown element type, a negative size, constant data that do not fit
// their shape, a tensor that is read before it is made or made twice.
core::Result<Graph> load(const std::string& path);
// The same from bytes; `name` stands in messages and as the file of data locations.
core::Result<Graph> parse(std::string_view bytes, const std::string& name);

}  // namespace aaco::graph::tflite
