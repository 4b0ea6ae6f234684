#pragma once

#include <optional>
#include <string>

#include "core/json.h"

namespace aaco::workflows {

// One side of a comparison: its name, its fused kernels, its rows of compiler_nodes, with times where they were measured, and
// what it left apart.
struct FusedSide {
  std::string kind, name;
  core::Json fused, nodes, not_fused;
  std::optional<double> call_ns;  // under the profiler
};
FusedSide library_side(const core::Json& document);
// Kernels that only one side has, by the nodes they are made of; what their nodes become on the other side, what they take there,
// and why they are not one kernel there.
core::Json compare_fused(const FusedSide& here, const FusedSide& there);

// Two documents of `aaco compiler` (docs/formats/compiler.md): `against` of kind "model". Nodes are paired as
// analytics::compiler::pair_nodes() has it.
core::Json compare_documents(const core::Json& here, const core::Json& there);

}  // namespace aaco::workflows
