#include "workflows/session/step_time.h"

#include <algorithm>

#include "analytics/latency.h"
#include "analytics/step_periods.h"
#include "core/files.h"
#include "trace/tables.h"

namespace aaco::workflows {

TimedIterations timed_iterations(const std::string& session_path, const core::Json& gpu,
                                 std::span<const trace::IterationRow> rows, const trace::NameTable& names) {
  TimedIterations timed{{rows.begin(), rows.end()}, {}};
  const bool by_device =
      std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return names.text(row.phase) == "device_step"; });
  const bool in_windows = gpu["no_timeline"]["reason"].text() == "separate-windows";
  if (by_device || in_windows ||
      core::exists(core::join_path(session_path, std::string(trace::TableOf<trace::NodeExecutionRow>::kPath))))
    return timed;
  auto periods = analytics::steps::step_periods(rows, names);
  if (!periods) return timed;
  timed.ranges_ns = analytics::metrics::durations_of(rows, names, "step");
  std::erase_if(timed.rows, [&](const auto& row) { return names.text(row.phase) == "step"; });
  timed.rows.insert(timed.rows.end(), periods->begin(), periods->end());
  return timed;
}

}  // namespace aaco::workflows
