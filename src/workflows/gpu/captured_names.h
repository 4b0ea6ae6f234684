#pragma once

#include <vector>

#include "analytics/attribution.h"
#include "trace/names.h"
#include "workflows/captured_launch.h"

namespace aaco::workflows {

// The launches that a graph was captured from, with their names in the trace's table.
inline analytics::attribution::CaptureMap capture_map_of(const std::vector<CapturedLaunch>& launches, trace::NameTable& names) {
  analytics::attribution::CaptureMap captures;
  for (const CapturedLaunch& captured : launches)
    captures.push_back({names.intern(captured.kernel), names.intern(captured.operator_name), names.intern(captured.marker),
                        names.intern(captured.shaped_operator), names.intern(captured.arguments), captured.shaped_start_ns,
                        captured.graph});
  return captures;
}

}  // namespace aaco::workflows
