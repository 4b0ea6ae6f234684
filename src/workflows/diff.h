#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/regression.h"
#include "analytics/tracediff.h"
#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "workflows/compare/distributions.h"
#include "workflows/diff_cause.h"
#include "workflows/diff_evidence.h"
#include "workflows/diff_metrics.h"
#include "workflows/diff_sides.h"
#include "workflows/idle_causes.h"
#include "workflows/node_pairs.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct DiffRequest {
  std::vector<std::string> baseline;   // sessions of side A
  std::vector<std::string> candidate;  // sessions of side B
  double level = 0.95;
  MetricChoice metrics;         // the first decides
  bool every_budget = false;    // they are a baseline's: whichever loses more than its budget decides
  bool drop_disturbed = false;  // leave out the iterations that the noise sentinel marked
  bool force = false;           // compare even what is not comparable
  bool use_history = true;      // one session a side: learn from the lake how much equal sessions differ
  bool store = true;            // write regress/ of the newest session of side B
};

struct DiffOutcome {
  std::vector<hardware::Difference> differences;  // of the fingerprints, hard first
  bool comparable = true;
  std::vector<analytics::regression::MetricResult> metrics;  // the first decides
  std::string verdict;                                       // regression, improvement, equivalent, inconclusive, not-comparable
  std::string severity = "none";
  double confidence = 0;
  std::optional<double> latency_delta_pct;
  std::string opposite;  // times that changed in opposite directions (analytics/side_verdict.h)
  std::vector<std::string> baseline_ids, candidate_ids;
  std::string baseline_name;  // of the baseline file, where it is one
  std::optional<BetweenHistory> history;
  DiffEvidence evidence;
  std::optional<SuspectedCause> cause;
  std::string recommendation;                                    // what to do next
  std::optional<analytics::tracediff::TraceDifference> kernels;  // of two traces
  std::optional<NodePairs> nodes;                                // of two profiled runs
  std::optional<Distributions> distributions;                    // of the iterations or steps
  std::vector<IdleCauseChange> idle_causes;                      // of two traces, the largest difference first
  std::vector<std::string> notes;                                // what the reader should know besides
};

// Compares two sides, each one session or several of the same thing. What differs between them (fingerprint) is found first;
// where that forbids a comparison the verdict is not-comparable and no number is compared, unless forced. The first metric
// decides (analytics/regression.h says how the others are corrected for being many).
core::Result<DiffOutcome> diff(const DiffRequest& request, const Services& services);
// The same of sides that are loaded already.
core::Result<DiffOutcome> diff_sides(const ComparedSide& a, const ComparedSide& b, const DiffRequest& request,
                                     const Services& services);

// The request with the metrics, budgets and directions of the baseline that side A is, where it is one and the request names
// none.
DiffRequest with_policy(DiffRequest request, const ComparedSide& a);

}  // namespace aaco::workflows
