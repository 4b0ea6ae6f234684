#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/node_changes.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// The runs of a side by their medians; runs without a median, and those that only a baseline file tells of, are left out.
std::vector<const ComparedSession*> runs_by_median(const ComparedSide& side);

// The nodes of two sides of profiled runs, of the run in the middle of each.
struct NodePairs {
  std::string baseline_session, candidate_session;
  analytics::metrics::NodeChanges changes;
};
// Empty where a side has no profiled run.
core::Result<std::optional<NodePairs>> node_pairs(const ComparedSide& a, const ComparedSide& b);

core::Json to_json(const NodePairs& pairs);

}  // namespace aaco::workflows
