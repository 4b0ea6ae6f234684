#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "workflows/optimize.h"
#include "workflows/run/run_plan.h"

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

// best.yaml, baseline.yaml, run.py, run.cc and the model, if it is one file of a reasonable size.
core::Status write_winner(const Winner& winner, const Services& services, OptimizeOutcome& outcome);

}  // namespace aaco::workflows
