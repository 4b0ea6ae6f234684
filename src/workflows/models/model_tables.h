#pragma once

#include "core/result.h"
#include "graph/graph.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// model/: what the model's file declares, as model_meta.json, graph_nodes and graph_edges.
core::Status store_model_tables(const graph::Graph& graph, SessionDraft& draft);

}  // namespace aaco::workflows
