#pragma once

#include "core/json.h"
#include "core/result.h"
#include "workflows/compiler/compiler_request.h"
#include "workflows/services.h"
#include "workflows/session_outcome.h"

namespace aaco::workflows {

// What ONNX Runtime makes of a model: which nodes become one kernel, which are folded, removed or put in, and why others that a
// fusion pattern nearly fits stay apart (docs/formats/compiler.md). The model is loaded, and run only if `timed`. Fails with
// unsupported where the runtime is missing or does not load the model, invalid_argument for `against` that is none of the three.
core::Result<core::Json> inspect_compiler(const CompilerRequest& request, const Services& services);

// Stores the document as a session of kind "compiler", whose report draws the graph.
core::Result<SessionOutcome> store_compiler(const core::Json& document, const CompilerRequest& request, const Services& services);

}  // namespace aaco::workflows
