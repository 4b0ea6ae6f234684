#pragma once

#include <cstdint>
#include <string>

#include "analytics/agreement.h"
#include "core/files.h"
#include "core/result.h"
#include "workflows/optimize/trial_process.h"

namespace aaco::workflows {

// The baseline's outputs on `inputs` generated inputs (and the given ones, if any), to compare configurations with. They lie in a
// temporary folder below `folder`, which goes with this.
class OutputCheck {
 public:
  static core::Result<OutputCheck> record(TrialProcess& baseline, const OptimizeRequest& request, const std::string& folder);
  core::Result<analytics::agreement::Agreement> compare(TrialProcess& candidate);

 private:
  OutputCheck(core::TemporaryDirectory folder, std::vector<std::uint64_t> seeds)
      : folder_(std::move(folder)), seeds_(std::move(seeds)) {}
  core::TemporaryDirectory folder_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace aaco::workflows
