#pragma once

#include "workflows/isolation_request.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::cli {

// --isolate and --isolate-set.
void add_isolation_options(CLI::App& app, workflows::IsolationRequest& request);

}  // namespace aaco::cli
