#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "graph/graph.h"

// Arguments of a node that are no tensors.
namespace aaco::graph::pt2 {

// The value as an attribute; empty for what is none (tensors, nothing, a symbol without a size).
std::optional<AttributeValue> attribute_of(std::string_view kind, const core::Json& value, const core::Json& symbols);

// Gives convolutions and pools the attributes that ONNX has for the same thing: strides, pads, dilations, kernel_shape,
// transposed, mode.
void name_as_onnx(Node& node, std::size_t spatial);

// "Symbol('s0', integer=True)" -> "s0": SymPy's long form as a formula of graph/symbol.h.
std::string plain_formula(std::string_view text);

}  // namespace aaco::graph::pt2
