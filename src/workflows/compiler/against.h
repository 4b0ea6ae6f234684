#pragma once

#include <optional>
#include <string>

#include "analytics/compiler_diff.h"
#include "core/json.h"
#include "core/result.h"
#include "graph/support.h"
#include "workflows/compiler/compiler_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What a compiled graph is compared with.
struct Against {
  enum class Kind { nothing, level, library, provider, backend, model } kind = Kind::nothing;
  std::string name;
  std::string path;  // of a provider: its file in data/support
};
core::Result<Against> resolve_against(const std::string& text, const Services& services);

// The same request with another ONNX Runtime, in a process of its own: one process has one library.
core::Result<core::Json> inspect_with_library(const CompilerRequest& request, const std::string& library,
                                              const Services& services);

// The same request on another backend of configs/backends.yaml, loaded in another process: what it placed where, and why nodes of
// `graph` fell to another provider.
core::Result<core::Json> place_on_backend(const CompilerRequest& request, const graph::Graph& graph,
                                          const analytics::compiler::CompilerRules& rules, const std::string& backend,
                                          const Services& services);
// Whether the backend has a build of ONNX Runtime of its own, so that it can be tried here.
bool is_built_backend(const std::string& name, const Services& services);

// The graph over a backend of data/support and the host: parts, what broke them, and the tensors copied between them.
core::Json provider_json(const graph::Graph& graph, const graph::BackendSupport& support,
                         const analytics::compiler::CompilerRules& rules);

}  // namespace aaco::workflows
