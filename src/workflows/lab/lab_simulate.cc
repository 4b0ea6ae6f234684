#include "workflows/lab_simulate.h"

#include "core/files.h"
#include "laboratory/faults.h"
#include "laboratory/trace_faults.h"
#include "tracelake/lake.h"
#include "workflows/explain/insight.h"
#include "workflows/gpu/gpu_analysis_json.h"
#include "workflows/gpu_analysis.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::Json;
using laboratory::trace_faults::TraceRows;

core::Result<TraceRows> read_rows(const std::string& path, trace::NameTable& names) {
  TraceRows rows;
  AACO_ASSIGN(rows.kernels, tracelake::read_table<trace::KernelRow>(path, names));
  AACO_ASSIGN(rows.copies, tracelake::read_table<trace::CopyRow>(path, names));
  AACO_ASSIGN(rows.calls, tracelake::read_table<trace::ApiCallRow>(path, names));
  AACO_ASSIGN(rows.collectives, tracelake::read_table<trace::CollectiveRow>(path, names));
  AACO_ASSIGN(rows.iterations, tracelake::read_table<trace::IterationRow>(path, names));
  AACO_ASSIGN(rows.counters, tracelake::read_table<trace::KernelCounterRow>(path, names));
  return rows;
}

// Rows into a bundle, their names put over into its own.
class Copier {
 public:
  Copier(const trace::NameTable& names, trace::Sink& sink) : names_(names), sink_(sink) {}
  void copy(const TraceRows& rows) {
    for (auto row : rows.kernels) put(row, row.name);
    for (auto row : rows.copies) put(row, row.kind);
    for (auto row : rows.calls) put(row, row.domain, row.name, row.arguments);
    for (auto row : rows.collectives) put(row, row.operation, row.data_type, row.group);
    for (auto row : rows.iterations) put(row, row.phase, row.disturbance);
    for (auto row : rows.counters) put(row, row.kernel_name, row.counter);
  }

 private:
  template <class Row, class... Names>
  void put(const Row& row, Names&... names) {
    ((names = sink_.name(names_.text(names))), ...);
    sink_.add(row);
  }
  const trace::NameTable& names_;
  trace::Sink& sink_;
};

}  // namespace

core::Result<SessionOutcome> simulate(const SimulateRequest& request, const Services& services) {
  for (const auto& kind : laboratory::faults::fault_kinds())
    if (kind.id == request.fault)
      return core::fail(core::ErrorCode::invalid_argument, "'" + request.fault + "' applies to runs, not to traces",
                        "use 'aaco lab inject " + request.fault + " -- run ...'");
  AACO_ASSIGN(const auto fault, laboratory::trace_faults::make_trace_fault(request.fault, request.intensity, request.variant));
  AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, request.session));
  AACO_ASSIGN(const auto original, tracelake::read_manifest(path));
  services.progress("reading the trace");
  trace::NameTable names;
  AACO_ASSIGN(TraceRows rows, read_rows(path, names));
  AACO_ASSIGN(const auto applied, laboratory::trace_faults::apply(fault, rows, names));
  AACO_ASSIGN(const Json environment, core::read_json_file(core::join_path(path, "env.json")));

  const Json told = to_json(fault, applied);
  AACO_ASSIGN(SessionDraft draft,
              SessionDraft::begin("import", request.tag, Json::object({{"simulated_from", original.id.text}, {"fault", told}}),
                                  services));
  draft.manifest().home_clock = original.home_clock;
  draft.manifest().fingerprint = original.fingerprint;
  draft.manifest().outcome.files = original.outcome.files;
  draft.warn("lab.fault",
             "this trace is simulated: " + std::string(fault.kind->title) + ", applied to session " + original.id.text,
             "it shows what this cause would look like; these times were not measured");
  AACO_TRY(draft.writer().write_json("env.json", environment));
  Copier(names, draft.sink()).copy(rows);
  AACO_TRY(draft.writer().flush());
  GpuAnalysisOptions options;
  options.find_steps = rows.iterations.empty();
  for (const Json& file : original.outcome.files.items())
    add_seen_devices(file["facts"], static_cast<std::int32_t>(file["rank"].as_i64().value_or(0)), options.devices);
  AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft.writer().path(), options, draft.sink(), services));
  draft.manifest().outcome.gpu = to_json(analysis, options);
  AACO_TRY(draft.writer().flush());
  trace::Metrics metrics = std::move(analysis.metrics);
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics more, table_metrics(draft, loaded, 1));
  metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  write_bottleneck(draft, loaded, metrics, services.paths);
  return draft.finish(std::move(metrics), false);
}

}  // namespace aaco::workflows
