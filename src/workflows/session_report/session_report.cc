#include "workflows/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "analytics/signals.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/render.h"
#include "report/render_svg.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/device_roofs.h"
#include "workflows/predict/session_estimates.h"
#include "workflows/session/llm_journal.h"
#include "workflows/session/metrics_files.h"
#include "workflows/session/step_time.h"
#include "workflows/session/traced_devices.h"
#include "workflows/session_report/lost_time.h"
#include "workflows/session_report/measured_advice.h"
#include "workflows/session_report/record_time.h"
#include "workflows/session_report/record_verdict.h"
#include "workflows/session_report/report_attainable.h"
#include "workflows/session_report/report_calls.h"
#include "workflows/session_report/report_compiler.h"
#include "workflows/session_report/report_decoder.h"
#include "workflows/session_report/report_gpu.h"
#include "workflows/session_report/report_insight.h"
#include "workflows/session_report/report_llm.h"
#include "workflows/session_report/report_rates.h"
#include "workflows/session_report/report_scaling.h"
#include "workflows/session_report/report_scheduling.h"
#include "workflows/session_report/report_search.h"
#include "workflows/session_report/report_series.h"
#include "workflows/session_report/report_shares.h"
#include "workflows/session_report/report_trace.h"
#include "workflows/session_report/verdict.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kTimelineIterations = 400;

core::Result<core::Json> read_if_there(const std::string& session_path, std::string_view file) {
  const std::string path = core::join_path(session_path, file);
  if (!core::exists(path)) return core::Json();
  return core::read_json_file(path);
}

std::int64_t origin_of(const report::ReportModel& model, std::span<const trace::IterationRow> iterations) {
  std::int64_t origin = INT64_MAX;
  for (const auto& phase : model.session.phases) origin = std::min(origin, phase.start_ns);
  for (const auto& row : iterations) origin = std::min(origin, row.start_ns);
  return origin == INT64_MAX ? 0 : origin;
}

void fill_iterations(report::ReportModel& model, std::span<const trace::IterationRow> all, const trace::NameTable& names,
                     std::int64_t origin) {
  const auto phase_of = [&](const trace::IterationRow& row) { return names.text(row.phase); };
  // Steps that the device timed replace those of the host.
  const bool by_device = std::any_of(all.begin(), all.end(), [&](const auto& row) { return phase_of(row) == "device_step"; });
  std::vector<trace::IterationRow> rows(all.begin(), all.end());
  if (by_device) std::erase_if(rows, [&](const auto& row) { return phase_of(row) == "step"; });
  model.iterations = iteration_points(rows, names, origin);
  std::vector<double> measured;
  for (const auto& row : rows)
    if (const auto phase = phase_of(row); phase == "measure" || phase == "step" || phase == "device_step")
      measured.push_back(static_cast<double>(row.duration_ns));
  model.histogram = histogram(measured);
  for (const auto& point : model.iterations)
    if (point.phase != "profile" && model.timeline.size() < kTimelineIterations)
      model.timeline.push_back(
          {"iterations", point.phase + " " + std::to_string(point.iteration), point.phase, point.start_ns, point.duration_ns});
}

// Where steps are timed from start to start, "latency" would be taken for their own time.
void name_periods(std::vector<report::MetricDefinition>& definitions) {
  constexpr std::string_view kLatency = "latency", kWord = "step period";
  for (report::MetricDefinition& one : definitions)
    if (one.id.starts_with("latency."))
      if (const std::size_t at = one.title.find(kLatency); at != std::string::npos) one.title.replace(at, kLatency.size(), kWord);
}

std::optional<DeviceRoofs> roofs_of(const SessionEstimates& estimates, const core::Paths& paths) {
  const auto device = estimates.summary["device"].text();
  if (device.empty()) return std::nullopt;
  auto roofs = device_roofs(std::string(device), paths);
  return roofs ? std::optional(*std::move(roofs)) : std::nullopt;
}

// Runs have blocks of a measuring loop, with what the kernel counted of them.
std::string lost_time_of(const report::ReportModel& model, std::span<const trace::LoopBlockRow> blocks,
                         const trace::NameTable& names) {
  const auto account = analytics::signals::account_of(blocks, names);
  if (!account) return {};
  const auto allowed = core::parse_f64(model.environment["fingerprint"]["facts"]["cpu.allowed_cores"].text());
  return lost_time(*account, model.why.empty() ? "" : model.why.front().id, allowed);
}

// A part that cannot be read costs that part, not the report.
void keep_going(report::ReportModel& model, const core::Status& part, std::string_view name) {
  if (part) return;
  model.session.warnings.insert(model.session.warnings.begin(),
                                {"evidence.unreadable", fmt::format("{} is left out: {}", name, part.error().message),
                                 "'aaco verify " + model.session.id.text + "' lists damaged files"});
}

template <class Row>
std::span<const Row> rows_or_none(report::ReportModel& model, LoadedSession& loaded, std::string_view name) {
  const auto rows = loaded.rows<Row>();
  if (rows) return *rows;
  keep_going(model, tl::unexpected<core::Error>(rows.error()), name);
  return {};
}

}  // namespace

core::Result<report::ReportModel> load_report(const std::string& session_path, const core::Paths& paths) {
  report::ReportModel model;
  AACO_ASSIGN(model.session, tracelake::read_manifest(session_path));
  if (model.session.kind == "import") model.title = described_files(model.session.outcome.files);
  if (const auto changed = tracelake::changed_documents(session_path, model.session); !changed.empty())
    model.session.warnings.insert(
        model.session.warnings.begin(),
        {"evidence.changed", core::join(changed, ", ") + " changed after the session was closed",
         "'aaco verify " + model.session.id.text + "' lists all changes; figures based on changed files are not reliable"});
  if (const auto there = tracelake::check_files_there(session_path, model.session); !there)
    model.session.warnings.insert(model.session.warnings.begin(),
                                  {"evidence.missing", there.error().message, there.error().remedy});
  if (core::exists(core::join_path(session_path, kLlmJournal)))
    model.session.warnings.insert(model.session.warnings.begin(),
                                  {"llm.journal", "the load was killed; the requests that had ended are in its journal",
                                   "aaco llm --recover " + model.session.id.text});
  if (auto environment = read_if_there(session_path, "env.json"))
    model.environment = *std::move(environment);
  else
    keep_going(model, tl::unexpected<core::Error>(environment.error()), "the environment record");
  AACO_ASSIGN(model.metrics, read_metrics(session_path));
  AACO_ASSIGN(model.definitions, metric_definitions(paths));
  LoadedSession loaded(session_path);
  const trace::NameTable& names = loaded.names();
  AACO_ASSIGN(const auto iterations, loaded.rows<trace::IterationRow>());
  const auto system = rows_or_none<trace::SystemEventRow>(model, loaded, "telemetry of the host");
  const auto gpu = rows_or_none<trace::GpuEventRow>(model, loaded, "telemetry of the GPU");
  const std::int64_t origin = origin_of(model, iterations);
  const TimedIterations timed = timed_iterations(session_path, model.session.outcome.gpu, iterations, names);
  fill_iterations(model, timed.rows, names, origin);
  if (timed.by_period()) name_periods(model.definitions);
  keep_going(model, fill_node_shares(model, loaded, origin), "time by node");
  if (const auto estimates = read_estimates(session_path))
    fill_attainable(model, *estimates, roofs_of(*estimates, paths));
  else
    keep_going(model, tl::unexpected<core::Error>(estimates.error()), "the estimate");
  model.telemetry = telemetry_series(system, gpu, names, origin);
  keep_going(model, fill_gpu(model, loaded, paths), "the GPU analysis");
  keep_going(model, fill_work_rates(model, session_path), "the work rates");
  keep_going(model, fill_collectives(model, session_path), "the collectives");
  keep_going(model, fill_insight(model, session_path), "the bottleneck");
  model.lost_time = lost_time_of(model, rows_or_none<trace::LoopBlockRow>(model, loaded, "the account of the calls"), names);
  keep_going(model, fill_scheduling(model, session_path), "operating system activity");
  fill_record_time(model);
  if (model.session.kind == "record" && (model.why.empty() || !model.why.front().confidence_ratio))
    if (auto used = record_verdict(model)) model.why.push_back(std::move(used->why));
  if (auto calls = gpu_calls_statement(model)) model.why.push_back(std::move(*calls));
  const auto of_gpu = gpu_verdict(model);
  VerdictText verdict = of_gpu ? *of_gpu : verdict_of(model);
  model.verdict = std::move(verdict.sentence);
  model.verdict_confidence = std::move(verdict.confidence);
  model.headline_metrics = std::move(verdict.headline_metrics);
  model.headline_of = std::move(verdict.headline_of);
  keep_going(model, fill_scaling(model, session_path), "the scaling");
  keep_going(model, fill_search(model, session_path), "the search");
  keep_going(model, fill_compiler(model, session_path), "what the compiler did");
  keep_going(model, fill_llm(model, session_path, origin), "the server load");
  keep_going(model, fill_decoder(model, session_path), "the decoder summary");
  return model;
}

core::Result<report::ReportModel> load_report_by_name(const std::string& name, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, name));
  AACO_ASSIGN(report::ReportModel model, load_report(path, paths));
  if (!model.advice.empty()) {
    AACO_ASSIGN(const auto measured, measured_advice(paths.sessions, model.session.id.text));
    add_measured(model, measured);
  }
  return model;
}

core::Status add_page_parts(report::ReportModel& model, const std::string& session_path) {
  return fill_trace(model, session_path);
}

core::Status add_page_parts_by_name(report::ReportModel& model, const std::string& name, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, name));
  return add_page_parts(model, path);
}

core::Result<std::string> render_page(const report::ReportModel& model, const core::Paths& paths) {
  const std::string file = core::join_path(paths.share, "web/report.html");
  const auto page = core::read_file(file);
  if (!page)
    return core::fail(core::ErrorCode::unsupported, "this build does not include the report page (" + file + " is missing)",
                      "run scripts/bootstrap.sh and build again; the text, JSON, Markdown and SVG reports work without it");
  return render_html(model, *page);
}

namespace {

// PLOT.svg of each plot that the report has data for.
core::Status write_plots(const report::ReportModel& model, const std::string& folder) {
  AACO_TRY(core::make_directories(folder));
  for (const std::string_view plot : report::kSvgPlots)
    if (const auto drawing = render_svg(model, plot))
      AACO_TRY(core::write_file_atomic(core::join_path(folder, std::string(plot) + ".svg"), *drawing));
  return {};
}

}  // namespace

core::Result<std::string> write_page(const report::ReportModel& model, const std::string& session_path,
                                     const core::Paths& paths) {
  const std::string folder = core::join_path(session_path, "report");
  AACO_TRY(write_plots(model, core::join_path(folder, "plots")));  // a build without the page has these
  AACO_ASSIGN(const std::string page, render_page(model, paths));
  const std::string file = core::join_path(folder, "report.html");
  AACO_TRY(core::write_file_atomic(file, page));
  return file;
}

}  // namespace aaco::workflows
