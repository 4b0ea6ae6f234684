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

// What else the work of one device shows.
struct WorkFindings {
  std::optional<analytics::trace_time::SlowingKernels> slowing;
  std::optional<FewGroups> few_groups;
  std::optional<LeadTime> lead;
};

// Of outcome.gpu.gpus[]; keys: slowing_kernels, few_groups, lead. Null: nothing was found.
core::Json to_json(const WorkFindings& findings);

}  // namespace aaco::workflows
