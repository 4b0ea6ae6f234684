#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analytics/kernel_pace.h"
#include "core/json.h"

namespace aaco::workflows {

// What the host did before the device's first work, outside the steps: time that span, busy and idle time leave out.
struct LeadTime {
  std::int64_t time_ns = 0;
  std::string activity;  // title of the cause that took most of it; empty: no event of the host tells
  double activity_ratio = 0;
};

struct FewGroups {
  std::string kernel;
  std::int64_t count = 0, sum_ns = 0, group_count = 0, unit_count = 0;
};

// Steps much longer than the median one that take a large part of all steps' time.
struct UnevenSteps {
  std::int64_t step_count = 0, long_count = 0;
  std::int64_t longest = 0;  // its number, from 1
  double longest_ns = 0, median_ns = 0, long_ns = 0;
  double long_ratio = 0;        // of the time of all steps
  std::int64_t once_count = 0;  // kinds of kernels that ran in the first step only, where that is the longest
  double once_ns = 0;           // their time
};

// What else the work of one device shows.
struct WorkFindings {
  std::optional<analytics::trace_time::SlowingKernels> slowing;
  std::optional<FewGroups> few_groups;
  std::optional<LeadTime> lead;
  std::optional<UnevenSteps> uneven;
};

// Of outcome.gpu.gpus[]; keys: slowing_kernels, few_groups, lead, uneven_steps. Null: nothing was found.
core::Json to_json(const WorkFindings& findings);

}  // namespace aaco::workflows
