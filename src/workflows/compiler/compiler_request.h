#pragma once

#include <string>
#include <vector>

#include "workflows/run_request.h"

namespace aaco::workflows {

struct CompilerRequest {
  RunRequest run;                    // the model, the library and the level (graph_level) that are looked at
  std::string against;               // a level, an ONNX Runtime library, or a backend of data/support; empty: no comparison
  bool every_level = true;           // count what the other levels do, too
  bool timed = false;                // also run it with the profiler on: time per kernel
  std::string folder;                // where compiler.json, compiler_nodes.parquet and the optimised graphs go; empty: nowhere
  std::vector<std::string> program;  // that runs this with another library, in a process of its own: `aaco compiler`
};

}  // namespace aaco::workflows
