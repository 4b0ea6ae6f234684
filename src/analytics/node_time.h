#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::analytics::metrics {

// Time of one kind in an iteration: mean over the profiled iterations, with Student's interval where there are two or more.
struct IterationTime {
  double mean_ns = 0;
  std::optional<trace::Interval> ci95;
  bool operator==(const IterationTime&) const = default;
};

// Where an iteration's time went: in_nodes + between_nodes + around_nodes is the whole.
struct IterationParts {
  IterationTime whole;
  IterationTime in_nodes;       // union of the node executions, so that nodes on several threads do not count twice
  IterationTime between_nodes;  // gaps between them: scheduling, memory planning, synchronisation
  IterationTime around_nodes;   // before the first and after the last: the framework's entry and exit
};

// An operator type or a node. Where several ran at once each has its part of that time, and a node that contains others (a loop's
// body) has only its own, so that shares add up to in_nodes.
struct NodeShare {
  trace::NameId node_name;  // empty for an operator type
  trace::NameId op_type;
  trace::NameId provider;
  trace::NameId input_shapes, output_shapes;  // of its first execution; empty for an operator type
  std::int64_t node_index = -1;
  double executions = 0;       // per iteration
  IterationTime time;          // its part of the iteration
  double duration_sum_ns = 0;  // per iteration, as the runtime reported it, overlaps counted again
  double share_ratio = 0;      // of the iteration
};

struct NodeTime {
  std::int64_t iterations = 0;            // profiled iterations that have node executions
  std::int64_t unmatched_executions = 0;  // of no profiled iteration, or wholly outside it in time: left out
  std::optional<IterationParts> parts;    // empty without iterations
  std::vector<NodeShare> operators;       // by type and provider, largest first
  std::vector<NodeShare> nodes;           // largest first
  trace::Metrics metrics;                 // node.*
};

// Node executions against the iterations of their pass (phase "profile", or "step" for an imported trace), joined by rank and
// iteration number; what sticks out of its iteration in time is cut off.
NodeTime node_time(std::span<const trace::IterationRow> iterations, std::span<const trace::NodeExecutionRow> executions,
                   const trace::NameTable& names);

}  // namespace aaco::analytics::metrics
