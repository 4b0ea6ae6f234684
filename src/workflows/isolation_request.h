#pragma once

#include <string>
#include <vector>

namespace aaco::workflows {

// What `--isolate` and `--isolate-set` ask for.
struct IsolationRequest {
  std::string level;                 // of data/isolation/levels.yaml; empty or "none": no level
  std::vector<std::string> changes;  // "nice=-5"
  [[nodiscard]] bool wanted() const { return !level.empty() || !changes.empty(); }
};

}  // namespace aaco::workflows
