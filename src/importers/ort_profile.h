#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "importers/importer.h"

namespace aaco::importers::ort {

// The ONNX Runtime profile: a JSON array of events with times in microseconds from the start of profiling. Node executions
// become NodeExecutionRow, each model_run an IterationRow; a node belongs to the model_run that encloses it. Times may be
// integers, fractions, or strings of them.
struct Options {
  std::int64_t start_ns =
      0;  // start of profiling on the monotonic clock, added to every time; 0: unknown, times stay the file's own
  std::int64_t skip_runs = 0;     // the first model runs are warm-up: dropped and counted
  std::string phase = "profile";  // of the iterations: a pass of an aaco run; "step": an imported profile
  bool whole_runs_only = false;   // drop and count nodes after the last complete run; otherwise keep and note them
};
std::unique_ptr<Importer> make_importer(const Options& options = {});

}  // namespace aaco::importers::ort
