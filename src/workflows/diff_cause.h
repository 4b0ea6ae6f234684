#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/regression.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/diff_evidence.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Why the sides differ, as far as it is known.
struct SuspectedCause {
  std::string cause;           // one sentence
  std::string recommendation;  // what to do about it
  core::Json details;          // the decomposition, for JSON; null: none
};

// The hook of root-cause analysis: called for every comparison, with the metric that decides. Empty: nothing changed, or no cause
// can be told.
core::Result<std::optional<SuspectedCause>> suspect_cause(const ComparedSide& a, const ComparedSide& b,
                                                          const analytics::regression::MetricResult& decided,
                                                          const DiffEvidence& evidence,
                                                          const std::vector<hardware::Difference>& differences,
                                                          const Services& services);

}  // namespace aaco::workflows
