#include "workflows/table_metrics.h"

#include "analytics/latency.h"
#include "analytics/node_time.h"
#include "analytics/telemetry.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

void append(trace::Metrics& to, trace::Metrics from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Without iterations (a recorded program) the whole observed phase counts.
analytics::metrics::ObservedWork work_of(const std::vector<trace::IterationRow>& iterations,
                                         const std::vector<trace::Phase>& phases, const trace::NameTable& names) {
  if (!iterations.empty()) return analytics::metrics::observed_work(iterations, names);
  analytics::metrics::ObservedWork work;
  for (const auto& phase : phases)
    if (phase.name == "record") work.windows.push_back({phase.start_ns, phase.end_ns});
  return work;
}

}  // namespace

core::Result<trace::Metrics> table_metrics(const std::string& session_path, const std::vector<trace::Phase>& phases,
                                           std::int64_t items_per_iteration) {
  trace::NameTable names;
  AACO_ASSIGN(const auto iterations, tracelake::read_table<trace::IterationRow>(session_path, names));
  AACO_ASSIGN(const auto nodes, tracelake::read_table<trace::NodeExecutionRow>(session_path, names));
  AACO_ASSIGN(const auto system, tracelake::read_table<trace::SystemEventRow>(session_path, names));
  AACO_ASSIGN(const auto gpu, tracelake::read_table<trace::GpuEventRow>(session_path, names));
  trace::Metrics metrics = analytics::metrics::latency_metrics(iterations, names, items_per_iteration).metrics;
  append(metrics, analytics::metrics::phase_metrics(phases));
  append(metrics, analytics::metrics::node_time(iterations, nodes, names).metrics);
  const auto work = work_of(iterations, phases, names);
  append(metrics, analytics::metrics::host_metrics(system, names, work));
  append(metrics, analytics::metrics::gpu_metrics(gpu, names, work));
  return metrics;
}

}  // namespace aaco::workflows
