#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "graph/graph.h"
#include "runner/backend.h"
#include "runner/loop.h"
#include "runner/ort_runtime.h"
#include "stats/stopping.h"
#include "workflows/run.h"
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

core::Result<RunPlan> plan_run(const RunRequest& request, const Services& services);

// A model loaded, with inputs bound.
struct LoadedModel {
  std::shared_ptr<runner::ort::Runtime> runtime;
  std::unique_ptr<runner::Backend> backend;
  std::int64_t batch = 1;   // items a call works on
  core::Json inputs;        // name, type, shape and origin of each
  std::string shapes_text;  // "input float32[1,3,224,224]; ..."
  std::vector<trace::Warning> warnings;
};

// Opens the model under the plan. Refuses one that does not fit in memory before it is tried.
core::Result<LoadedModel> load_model(const RunPlan& plan, const RunRequest& request, const Services& services);

}  // namespace aaco::workflows
