#pragma once

#include "analytics/confidence.h"
#include "analytics/fingerprint.h"
#include "analytics/gap_causes.h"
#include "core/environment.h"
#include "core/result.h"

namespace aaco::workflows {

// What the analysis of a trace knows beforehand, from the program's data.
struct GpuBooks {
  analytics::fingerprint::PatternBook kernels;  // data/kernels
  analytics::gaps::CauseBook causes;            // data/gaps/causes.yaml
  analytics::confidence::Table confidences;     // data/rules/confidence.yaml
  static core::Result<GpuBooks> load(const core::Paths& paths);
};

}  // namespace aaco::workflows
