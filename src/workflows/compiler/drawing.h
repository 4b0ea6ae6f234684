#pragma once

#include <optional>

#include "core/json.h"
#include "workflows/compiler/compiled_graph.h"
#include "workflows/compiler/kernel_times.h"

namespace aaco::workflows {

// The graph before and after as rows to draw, what repeats folded: `drawing` of the document (docs/formats/compiler.md).
core::Json drawing_json(const graph::Graph& before, const CompiledGraph& compiled, const std::optional<KernelTimes>& times);

}  // namespace aaco::workflows
