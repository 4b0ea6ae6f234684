#include "workflows/session/table_metrics.h"

#include "analytics/latency.h"
#include "analytics/node_time.h"
#include "analytics/scheduling.h"
#include "analytics/sensor_agreement.h"
#include "analytics/telemetry.h"
#include "stats/summary.h"
#include "tracelake/lake.h"
#include "workflows/session/noise.h"
#include "workflows/session/row_puller.h"
#include "workflows/session/step_time.h"

namespace aaco::workflows {
namespace {

void append(trace::Metrics& to, trace::Metrics from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Without iterations (a recorded program, an imported log) the whole observed phase counts.
analytics::metrics::ObservedWork work_of(std::span<const trace::IterationRow> iterations, const std::vector<trace::Phase>& phases,
                                         const trace::NameTable& names) {
  if (!iterations.empty()) return analytics::metrics::observed_work(iterations, names);
  analytics::metrics::ObservedWork work;
  for (const auto& phase : phases)
    if (phase.name == "record" || phase.name == "trace") work.windows.push_back({phase.start_ns, phase.end_ns});
  return work;
}

core::Json to_json(const analytics::trust::SensorTrust& sensor) {
  core::Json out = core::Json::object({{"device", sensor.device},
                                       {"metric", sensor.metric},
                                       {"source", sensor.source},
                                       {"agreed", sensor.agreed},
                                       {"disagreed", sensor.disagreed},
                                       {"undecided", sensor.undecided}});
  return std::move(out.set_if("trust_ratio", sensor.score));
}

void judge_sensors(std::span<const trace::GpuEventRow> events, const trace::NameTable& names, SessionDraft& draft) {
  const auto agreements = analytics::trust::compare_sensors(events, names);
  core::Json sensors = core::Json::array();
  for (const auto& sensor : analytics::trust::sensor_trust(agreements)) sensors.push(to_json(sensor));
  if (!agreements.empty()) draft.manifest().outcome.sensors = std::move(sensors);
  if (auto warning = analytics::trust::disagreement_warning(agreements)) draft.manifest().warnings.push_back(std::move(*warning));
}

trace::Metrics step_range_metrics(const std::vector<double>& ranges_ns) {
  const auto median = stats::summarize(ranges_ns).p50;
  if (!median) return {};
  trace::MetricValue value{kStepRange, median->value, "ns", {}, {}};
  if (median->ci95) value.ci95 = trace::Interval{median->ci95->low, median->ci95->high};
  return {value};
}

}  // namespace

core::Result<analytics::scheduling::Summary> scheduling_summary(const std::string& session_path) {
  analytics::scheduling::Summary summary;
  trace::NameTable names;
  AACO_ASSIGN(auto rows, RowPuller<trace::SchedEventRow>::open(session_path, names));
  while (const trace::SchedEventRow* row = rows.peek()) {
    summary.add(*row, names);
    AACO_TRY(rows.pop());
  }
  return summary;
}

core::Result<trace::Metrics> table_metrics(SessionDraft& draft, LoadedSession& loaded, std::int64_t items_per_iteration) {
  const std::vector<trace::Phase>& phases = draft.manifest().phases;
  trace::NameTable& names = loaded.names();
  AACO_ASSIGN(const auto iterations, loaded.rows<trace::IterationRow>());
  AACO_ASSIGN(const auto system, loaded.rows<trace::SystemEventRow>());
  AACO_ASSIGN(const auto gpu, loaded.rows<trace::GpuEventRow>());
  AACO_ASSIGN(const auto* node_time, loaded.node_time());
  auto [counted, ranges_ns] = timed_iterations(loaded.path(), draft.manifest().outcome.gpu, iterations, names);
  leave_out_disturbed(draft.manifest(), counted);
  trace::Metrics metrics = analytics::metrics::latency_metrics(counted, names, items_per_iteration).metrics;
  append(metrics, step_range_metrics(ranges_ns));
  AACO_ASSIGN(const auto blocks, loaded.rows<trace::LoopBlockRow>());
  append(metrics, analytics::metrics::caller_cpu_metrics(blocks, counted, names));
  append(metrics, analytics::metrics::phase_metrics(phases));
  append(metrics, node_time->metrics);
  const auto work = work_of(iterations, phases, names);
  append(metrics, analytics::metrics::host_metrics(system, names, work));
  append(metrics, analytics::metrics::gpu_metrics(gpu, names, work));
  append(metrics, analytics::scheduling::iteration_metrics(iterations));
  AACO_ASSIGN(const auto scheduling, scheduling_summary(loaded.path()));
  append(metrics, scheduling.metrics());
  judge_sensors(gpu, names, draft);
  return metrics;
}

}  // namespace aaco::workflows
