#pragma once

#include <string>
#include <vector>

#include "report/model.h"

namespace aaco::report {

// The breakdown as a tree: iteration -> part -> operator type -> node -> kernel, as far as the report has these levels; of a
// trace kernels stand in their part.
struct TimeNode {
  std::string name;
  double total_ns = 0;
  int slot = 0;                    // of the drawings' palette, by operator type
  std::vector<TimeNode> children;  // largest first
};

// The root is the iteration, or what model.time_whole says; it has no children where the report has no times.
TimeNode build_time_tree(const ReportModel& model);

}  // namespace aaco::report
