#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/source.h"

// TFLite models (schema version 3). Builtin operators get the domain "tflite" and their name in the schema ("CONV_2D"), custom
// ones "custom:NAME"; IF becomes If, the body of a WHILE is counted as often as loops are taken to run, and what a CALL or a
// STABLEHLO_COMPOSITE runs stands in its place. Shapes are the file's. An open size ("shape_signature" with -1) of an input is
// the batch where it comes first, the height or the width of an image, and has no name elsewhere. Where the batch alone is open,
// it follows through every tensor with one open size; other open sizes are left to shape inference: what the file writes there is
// a placeholder. Weights are not read.
namespace aaco::graph::tflite {

// `signature`: which of the file's programs; empty: its first graph, and where others exist the answer says so. Fails with
// invalid_input on damage, another version, an unknown element type, a negative size, constant data that do not fit their shape,
// a buffer or tensor that the file does not have, a tensor that is read before it is made or made twice; with invalid_argument
// for a signature it does not have.
core::Result<Source> load(const std::string& path, const std::string& signature = {});
// The same from bytes; `name` stands in messages and as the file of data locations.
core::Result<Source> parse(std::string_view bytes, const std::string& name, const std::string& signature = {});

}  // namespace aaco::graph::tflite
