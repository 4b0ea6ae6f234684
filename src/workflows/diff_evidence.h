#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analytics/regression.h"
#include "core/json.h"
#include "core/result.h"
#include "workflows/diff_sides.h"

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

}  // namespace aaco::workflows
