#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

// PyTorch export archives (.pt2, torch.export.save): a zip with the ExportedProgram as JSON, in both layouts (until 2.5
// "serialized_exported_program.json", from then on "NAME/models/MODEL.json"). Operators get the domain "aten" (others their own
// namespace) and their name without overload; arguments that are no tensors become attributes, convolutions' and pools' under
// ONNX's names. Shapes are the file's. Weights are not read.
namespace aaco::graph::pt2 {

// Fails with invalid_input on damage, an archive without a program, an element type that PyTorch does not have, a negative size,
// a tensor that is read before it is made or made twice.
core::Result<Graph> load(const std::string& path);
// The same from an archive's bytes; `name` stands in messages.
core::Result<Graph> parse(std::string_view archive, const std::string& name);
// The same from the program's JSON alone.
core::Result<Graph> parse_program(std::string_view json, const std::string& name);

}  // namespace aaco::graph::pt2
