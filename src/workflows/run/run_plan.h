#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "runner/backend.h"
#include "runner/loop.h"
#include "stats/stopping.h"
#include "workflows/run_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A request with every gap filled from configs/models.yaml and configs/backends.yaml.
struct RunPlan {
  std::string model_name;  // for people
  std::string model_path;
  std::string model_hash;  // SHA-256 of the file
  std::int64_t model_bytes = 0;
  graph::Graph graph;                                             // as the file declares it, without weights
  std::map<std::string, std::vector<std::int64_t>> model_shapes;  // of models.yaml
  runner::BackendOptions backend;
  runner::LoopOptions loop;
  stats::StoppingOptions stopping;
  core::Json request;  // all of it resolved, for session.json
};

// "memory_arena=off pinning=on"; empty without options.
std::string session_options_text(const std::map<std::string, std::string>& options);
// "x=9f86d081884c": input and the first digits of the SHA-256 of its file; empty without given inputs.
std::string inputs_hash_text(const std::map<std::string, std::string>& files);

core::Result<RunPlan> plan_run(const RunRequest& request, const Services& services);

}  // namespace aaco::workflows
