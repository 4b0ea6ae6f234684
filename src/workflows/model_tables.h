#pragma once

#include <string>

#include "core/result.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// model/: what the model's file declares, as model_meta.json, graph_nodes and graph_edges. A model that AACO's reader does not
// understand (while the runtime does) leaves a warning, not an error.
core::Status store_model_tables(const std::string& model_path, SessionDraft& draft);

}  // namespace aaco::workflows
