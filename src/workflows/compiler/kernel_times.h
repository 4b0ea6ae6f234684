#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "runner/ort_runtime.h"
#include "workflows/compiler/compiled_graph.h"
#include "workflows/run/run_plan.h"

namespace aaco::workflows {

// What the kernels of an optimised graph take, by the runtime's profiler, which adds about a microsecond to each.
struct KernelTimes {
  std::int64_t calls = 0;
  double call_ns = 0;                       // median, from outside
  std::map<std::string, double> by_kernel;  // median over the calls, ns
};

// Opens the model at `level` with the profiler on and calls it for about a second. `folder`: for the profiler's file.
core::Result<KernelTimes> measure_kernels(runner::ort::Runtime& runtime, const RunPlan& plan, const RunRequest& request,
                                          const std::string& level, const std::string& folder, const Services& services);

// Sets `time_ns` of the members of a list by their `kernel`.
void set_times(core::Json& rows, const KernelTimes& times);

// Of the fused kernels that only one side has (`only`): what their nodes take on the other side (`there`: compiler_nodes with
// times) as `other_ns`, and `change_ns` = time_ns - other_ns. A kernel of the other side that has further nodes counts with all
// its time and is said by `other_has_more`.
void set_changes(core::Json& only, const core::Json& there);

}  // namespace aaco::workflows
