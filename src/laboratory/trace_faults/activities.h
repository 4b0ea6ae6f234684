#pragma once

#include <string_view>

#include "laboratory/trace_faults/row_times.h"

namespace aaco::laboratory::trace_faults {

// How a profiler records what keeps a launching thread busy.
struct Activity {
  std::string_view domain;  // empty: the GPU runtime of the trace
  std::string_view hip, cuda;
};

// Whether a fault holds up the launching thread by such an activity.
bool has_activities(std::string_view fault);
// One of those that are known for the fault; `variant` chooses. Null: the fault leaves no event.
const Activity* activity_of(std::string_view fault, std::uint64_t variant);

}  // namespace aaco::laboratory::trace_faults
