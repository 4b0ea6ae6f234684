#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/regression.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/compare_sides.h"

namespace aaco::workflows {

// A signal on both sides, means over the sessions.
struct EvidenceRow {
  std::string signal, unit;
  double baseline = 0;
  double candidate = 0;
  [[nodiscard]] std::optional<double> delta_ratio() const;  // empty over a baseline of 0
};

// What speaks for where a difference comes from. A kernel is a GPU kernel of a trace, or an execution of a graph node where the
// profiled pass of a run is all there is.
struct DiffEvidence {
  std::string kernels_are;  // "gpu_kernels", "graph_nodes", or empty: neither was recorded on both sides
  std::vector<EvidenceRow> rows;
  std::optional<double> kernel_launch_count_delta, avg_kernel_duration_delta, cpu_overhead_delta;  // (B - A) / A
  // Of the difference of an iteration: more calls, longer calls, time outside them, ns. They add up to the difference of kernel
  // time and time outside.
  std::optional<double> count_part_ns, duration_part_ns, overhead_part_ns;
};

DiffEvidence find_evidence(const ComparedSide& a, const ComparedSide& b);
core::Json to_json(const DiffEvidence& evidence);

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
