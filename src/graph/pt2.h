#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/source.h"

// PyTorch export archives (.pt2, torch.export.save): a zip with the ExportedProgram as JSON, in both layouts (until 2.5
// "serialized_exported_program.json", from then on "NAME/models/MODEL.json"). Operators get the domain "aten" (others their own
// namespace) and their name without overload; arguments that are no tensors become attributes, convolutions' and pools' under
// ONNX's names. Shapes are the file's. Weights are not read.
namespace aaco::graph::pt2 {

// `model`: which of the archive's models; empty: the only one, or of several the one called "model", which the answer then says.
// Fails with invalid_input on damage, an archive without a program or with several and none of that name (the models are named),
// a schema that is newer than AACO, an element type that PyTorch does not have, a negative size, a tensor that is read before it
// is made or made twice.
core::Result<Source> load(const std::string& path, const std::string& model = {});
// The same from an archive's bytes; `name` stands in messages.
core::Result<Source> parse(std::string_view archive, const std::string& name, const std::string& model = {});
// The same from the program's JSON alone. `stored`: for parameters and buffers by their name in the module, where their bytes lie
// (two of one place are one tensor).
using StoredWeights = std::map<std::string, std::string>;
core::Result<Source> parse_program(std::string_view json, const std::string& name, const StoredWeights& stored = {});

}  // namespace aaco::graph::pt2
