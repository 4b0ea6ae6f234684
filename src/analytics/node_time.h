#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::metrics {

// Time of one kind per iteration: mean over the profiled iterations, with Student's t interval if there are two or more.
struct IterationTime {
  double mean_ns = 0;
  std::optional<trace::Interval> ci95;
  bool operator==(const IterationTime&) const = default;
};

// Breakdown of an iteration: in_nodes + between_nodes + around_nodes is the total.
struct IterationParts {
  IterationTime whole;
  IterationTime in_nodes;       // union of the node executions, so that nodes on several threads do not count twice
  IterationTime between_nodes;  // gaps between them: scheduling, memory planning, synchronisation
  IterationTime around_nodes;   // before the first and after the last: the framework's entry and exit
};

// An operator type or a node. Concurrent nodes share their common time, and a node that contains others (a loop's
// body) has only its exclusive time, so that shares add up to in_nodes.
struct NodeShare {
  trace::NameId node_name;  // empty for an operator type
  trace::NameId op_type;
  trace::NameId provider;
  trace::NameId input_shapes, output_shapes;  // of its first execution; empty for an operator type
  std::int64_t node_index = -1;
  double executions = 0;       // per iteration
  IterationTime time;          // its share of the iteration
  double duration_sum_ns = 0;  // per iteration, as the runtime reported it, overlaps counted again
  double share_ratio = 0;      // of the iteration
};

struct NodeTime {
  std::int64_t iterations = 0;            // profiled iterations that have node executions
  std::int64_t unmatched_executions = 0;  // of no profiled iteration, or entirely outside it in time: skipped
  std::optional<IterationParts> parts;    // empty without iterations
  std::vector<NodeShare> operators;       // by type and provider, largest first
  std::vector<NodeShare> nodes;           // largest first
  trace::Metrics metrics;                 // node.*
};

// Node executions against the iterations of their pass (phase "profile", or "step" for an imported trace), joined by rank and
// iteration number; times outside the iteration are clipped.
NodeTime node_time(std::span<const trace::IterationRow> iterations, std::span<const trace::NodeExecutionRow> executions,
                   const trace::NameTable& names);

}  // namespace aaco::analytics::metrics
