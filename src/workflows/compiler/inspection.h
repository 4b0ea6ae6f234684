#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analytics/compiler_diff.h"
#include "core/files.h"
#include "core/json.h"
#include "core/result.h"
#include "graph/fuse.h"
#include "graph/graph.h"
#include "runner/ort_runtime.h"
#include "workflows/compiler/compare_documents.h"
#include "workflows/compiler/compiled_graph.h"
#include "workflows/compiler/compiler_request.h"
#include "workflows/compiler/kernel_times.h"
#include "workflows/run/run_plan.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What is needed to look at one model in one runtime.
struct Inspection {
  CompilerRequest request;
  std::string asked;    // the provider that was asked for; plan.backend.provider is the one whose graph is shown
  bool absent = false;  // this build of the runtime does not have it
  RunPlan plan;
  graph::Graph before;  // functions inlined, shapes inferred, the sizes that were given in place of their symbols
  analytics::compiler::CompilerRules rules;
  graph::FusionRules fusions;
  std::shared_ptr<runner::ort::Runtime> runtime;
  std::optional<core::TemporaryDirectory> temporary;
  std::string folder;  // of the optimised graphs: the temporary one, or the one that was asked for
};
core::Result<Inspection> open_inspection(const CompilerRequest& request, const Services& services);

// The graph at a level. A provider that compiles its nodes leaves a graph that cannot be written: then the inspection's plan
// becomes one of the CPU provider, whose graph is shown, and what the provider takes is told apart from it (place_on_backend).
core::Result<CompiledGraph> compile_writable(Inspection& inspection, const std::string& level);

// The lists of a document about one level, with times where they were asked for.
struct LevelLists {
  core::Json fused, inserted, nodes, not_fused;
  std::optional<KernelTimes> times;
};
core::Result<LevelLists> lists_of(const Inspection& inspection, const CompiledGraph& compiled, const Services& services);
FusedSide level_side(const std::string& level, const LevelLists& lists);

}  // namespace aaco::workflows
