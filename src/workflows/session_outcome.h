#pragma once

#include <string>

#include "trace/metric.h"
#include "trace/session.h"

namespace aaco::workflows {

// A complete session in the lake.
struct SessionOutcome {
  std::string path;
  trace::SessionManifest manifest;
  trace::Metrics metrics;
};

}  // namespace aaco::workflows
