#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "workflows/compiler/compiler_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Runs the model on a backend of configs/backends.yaml with the profiler on, in another process whose session goes to `folder`
// and is removed, and sets in `against` what it costs to go from one provider to another: `seams` and `seams_timed`
// (docs/formats/compiler.md). Fails as the run does.
core::Status set_backend_seams(core::Json& against, const graph::Graph& before, const CompilerRequest& request,
                               const std::string& backend, const std::string& folder, const Services& services);

}  // namespace aaco::workflows
