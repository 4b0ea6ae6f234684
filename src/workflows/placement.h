#pragma once

#include <string>

#include "core/json.h"
#include "runner/backend.h"

namespace aaco::workflows {

// What a loaded model runs on. With --allow-fallback this may be another provider than the requested one.
struct Placement {
  std::string backend, provider;                      // that run: the requested ones if any node runs there
  std::string requested_backend, requested_provider;  // empty: the same
};

// From the runtime's nodes_by_provider (Backend::describe()); the requested ones where the runtime does not say. Several
// providers are joined by "+", the one with most nodes first.
Placement placement_of(const runner::BackendOptions& requested, const core::Json& runtime);

// The description with the provider that runs; the requested one stands beside it if it differs.
core::Json described(core::Json runtime, const Placement& placement);

}  // namespace aaco::workflows
