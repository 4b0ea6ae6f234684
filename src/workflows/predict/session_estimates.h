#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "hardware/device.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// Predicts each node of the model on the device and stores it with the session: predict/estimates.parquet has the nodes,
// predict/estimate_summary.json the whole (docs/formats/predictions.md). `inputs`: name, type and shape of each, as the outcome
// in session.json has them. Fails as estimation::analyze() does, and leaves nothing behind then.
core::Status store_estimates(const graph::Graph& graph, const core::Json& inputs, const hardware::Device& device,
                             SessionDraft& draft, const Services& services);

// What a session carries; empty where it carries nothing.
struct SessionEstimates {
  core::Json summary;
  trace::NameTable names;
  std::vector<trace::EstimateRow> nodes;
};
core::Result<SessionEstimates> read_estimates(const std::string& session_path);

}  // namespace aaco::workflows
