#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/optimize/trial.h"
#include "workflows/run_request.h"

namespace aaco::workflows {

// What a program needs to run the model as the configuration does.
struct Deployment {
  RunRequest configuration;
  std::string model_path;  // as the programs open it
  std::string provider;    // CPUExecutionProvider
  core::Json inputs;       // name, type and shape of each, as measured
  std::string affinities;  // of the pool's threads; empty: not pinned
};

// trials.parquet in `folder`.
core::Status write_trials_table(const std::vector<Trial>& trials, const std::string& folder);

// run.py and run.cc: they open the model with the options of the configuration and print the median time of a call. `pattern`:
// data/optimize/run.py.in or run.cc.in, of which the @WORDS@ are filled in.
std::string python_program(const Deployment& deployment, const std::string& pattern);
std::string cpp_program(const Deployment& deployment, const std::string& pattern);

}  // namespace aaco::workflows
