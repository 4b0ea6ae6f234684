#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "importers/importer.h"

namespace aaco::importers::ort {

// ONNX Runtime's own profile: a JSON array of events with times in microseconds from the start of profiling. Node executions
// become NodeExecutionRow, each model_run an IterationRow; a node belongs to the model_run that encloses it. Times may stand as
// whole or broken numbers, or as texts of them.
struct Options {
  std::int64_t start_ns =
      0;  // start of profiling on the monotonic clock, added to every time; 0: unknown, times stay the file's own
  std::int64_t skip_runs = 0;     // the first model runs are warm-up: dropped, and counted
  std::string phase = "profile";  // of the iterations: a pass of a run of ours; "step": the runs are all that was measured
  bool whole_runs_only = false;   // nodes after the last whole run are dropped, and counted; else they are kept, and noted
};
std::unique_ptr<Importer> make_importer(const Options& options = {});

}  // namespace aaco::importers::ort
