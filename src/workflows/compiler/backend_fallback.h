#pragma once

#include <optional>

#include "analytics/compiler_diff.h"
#include "core/json.h"
#include "graph/graph.h"
#include "graph/support.h"

namespace aaco::workflows {

// The nodes of the model that another execution provider ran than the one that was asked for, each with the reason by the rules
// of `support` (data/rules/provider_NAME.yaml), "provider_unknown" where no rule says it, and with the two nodes that it keeps
// apart where it stands between two that the provider took: `refused` of the document (docs/formats/compiler.md). `runtime`: what
// the backend says of itself (Backend::describe()).
core::Json fallen_nodes(const graph::Graph& graph, const core::Json& runtime, const std::optional<graph::BackendSupport>& support,
                        const analytics::compiler::CompilerRules& rules);

}  // namespace aaco::workflows
