#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/optimize_request.h"
#include "workflows/run/run_plan.h"
#include "workflows/services.h"

namespace aaco::workflows {

// What is written down of a proven winner.
struct Winner {
  const OptimizeRequest& request;
  const RunPlan& plan;          // of the baseline
  RunRequest configuration;     // with its rewrites by name
  std::string run_file;         // the rewritten model; empty: the model as it is
  const core::Json& described;  // the baseline as its process describes it
  std::int64_t batch = 1;
};

// The files of an earlier search's winner go into the folder "earlier": the result beside them no longer claims their gain.
core::Status set_aside(const std::string& folder);

// Writes best.yaml, baseline.yaml, run.py, run.cc and the model, if it is one file of a reasonable size; answers the files'
// names. `summary`: of the search, as a comment.
core::Result<std::vector<std::string>> write_winner(const Winner& winner, const std::string& summary, const Services& services);

}  // namespace aaco::workflows
