#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/rewrite.h"
#include "workflows/optimize_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Whether a rewrite of the run computes in another precision.
bool changes_precision(const RunRequest& configuration);

// The rewritten copies of the model that configurations ask for, each made once, in `folder`/models.
class ModelVariants {
 public:
  ModelVariants(std::string model_path, std::string folder, std::vector<std::string> worker, const Services& services)
      : model_path_(std::move(model_path)), folder_(std::move(folder)), worker_(std::move(worker)), services_(&services) {}

  // The configuration with its rewrites replaced by the file to run. Fails as the rewrites do.
  core::Result<RunRequest> resolve(const RunRequest& configuration);

 private:
  core::Result<std::string> rewritten(const RunRequest& configuration);
  // On generated inputs, and on those of the configuration.
  core::Result<graph::rewrite::ActivationRanges> measured_ranges(const RunRequest& configuration) const;
  core::Status write_offline(const RunRequest& configuration, const std::string& path) const;

  std::string model_path_, folder_;
  std::vector<std::string> worker_;
  const Services* services_;
  std::map<std::string, core::Result<std::string>> made_;  // by the passes
};

}  // namespace aaco::workflows
