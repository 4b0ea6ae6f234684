#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace aaco::analytics::compiler {

// The node that makes each tensor; none: an input, a weight or nothing.
std::vector<std::optional<std::size_t>> makers_of(const graph::Graph& graph);

// Operators that hand their input on, in another type, layout or place.
bool moves(const graph::Node& node);

// "Conv" of FusedConv, QLinearConv and NhwcFusedConv: the operator that a kernel of several nodes is named after.
std::string_view plain_operator(std::string_view op_type);

// ONNX Runtime: "X_token_3" is a node X that was made again, in another layout.
std::string_view without_token(std::string_view name);

// ONNX Runtime: a kernel in the blocked layout is named after the result that it had before, "OUTPUT_nchwc" or (of a
// normalisation) "OUTPUT_bn_nchwc": what OUTPUT may be. Empty: the kernel is none.
std::vector<std::string_view> names_without_layout(std::string_view kernel);

// Which tensor of `before` each one of `after` is, its type and layout aside: by its name; by the name of its kernel, and what
// the kernel computes besides by its operands and attributes; through nodes that only move it; and, where no name is left, by
// what its kernel reads.
std::vector<std::optional<std::size_t>> match_tensors(const graph::Graph& before, const graph::Graph& after);

}  // namespace aaco::analytics::compiler
