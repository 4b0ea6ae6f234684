#include "workflows/import.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "tracelake/lake.h"
#include "workflows/explain/insight.h"
#include "workflows/explain/no_work.h"
#include "workflows/gpu/gpu_analysis_json.h"
#include "workflows/import/capture_map.h"
#include "workflows/import/host_calls.h"
#include "workflows/import/import_read.h"
#include "workflows/import/import_totals.h"
#include "workflows/import/import_warnings.h"
#include "workflows/import/migraphx_program.h"
#include "workflows/import/unseen_kernels.h"
#include "workflows/live_record.h"
#include "workflows/model_source.h"
#include "workflows/models/model_tables.h"
#include "workflows/session/table_metrics.h"
#include "workflows/session/traced_devices.h"
#include "workflows/session_draft.h"
#include "workflows/timeline_levels.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

using core::Json;
using importers::grouping::InputFile;
using importers::grouping::Inputs;

Json passed_json(const std::vector<importers::PassedFile>& passed) {
  constexpr std::size_t kMaxListed = 1000;
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(passed.size(), kMaxListed); ++i)
    list.push(Json::object({{"file", core::base_name(passed[i].path)}, {"reason", passed[i].reason}}));
  return list;
}

// " (2 dropped: negative duration; 1 dropped: no phase)", or nothing where nothing was read.
std::string why_nothing_kept(const Read& read) {
  constexpr std::size_t kMaxListed = 5;
  std::vector<std::string> reasons;
  for (const auto& result : read.results) {
    if (!result.account.reason.empty() && reasons.size() < kMaxListed) reasons.push_back(result.account.reason);
    for (const auto& [reason, count] : result.account.dropped)
      if (reasons.size() < kMaxListed) reasons.push_back(std::to_string(count) + " dropped: " + reason);
  }
  return reasons.empty() ? std::string() : " (" + core::join(reasons, "; ") + ")";
}

// The lockbox of an import tells of the traced machine as far as the files do, not of this one.
core::Status write_lockbox(const Read& read, const Inputs& inputs, SessionDraft& draft) {
  std::set<std::string> formats;
  std::string host;
  for (const InputFile& file : inputs.files) formats.insert(file.info.name);
  for (const auto& result : read.results)
    if (host.empty()) host = result.host;
  std::string format_list;
  for (const auto& format : formats) format_list += (format_list.empty() ? "" : ",") + format;
  const auto fingerprint = hardware::make_fingerprint(
      {{"mode", "import"}, {"runtime.name", format_list}, {"host", host}, {"device", traced_devices(read.files)}});
  draft.manifest().fingerprint = fingerprint.hash;
  return draft.writer().write_json("env.json", Json::object({{"imported", true},
                                                             {"host", host},
                                                             {"files", read.files},
                                                             {"tool_version", draft.manifest().tool_version},
                                                             {"fingerprint", to_json(fingerprint)}}));
}

Json to_json(const ImportCounts& counts) {
  return Json::object({{"kernels", counts.kernels},
                       {"copies", counts.copies},
                       {"calls", counts.calls},
                       {"iterations", counts.iterations},
                       {"node_executions", counts.nodes},
                       {"samples", counts.samples},
                       {"counters", counts.counters},
                       {"graph_nodes", counts.graph_nodes}});
}

core::Status keep_raw_files(const Inputs& inputs, SessionDraft& draft) {
  const std::string folder = core::join_path(draft.writer().path(), "profiler/rocprof_raw");
  AACO_TRY(core::make_directories(folder));
  std::map<std::string, int> used;
  for (const InputFile& file : inputs.files) {
    const std::string name = core::base_name(file.path);
    const int number = used[name]++;
    std::error_code problem;
    std::filesystem::copy_file(file.path, core::join_path(folder, number == 0 ? name : std::to_string(number) + "_" + name),
                               problem);
    if (problem)
      return core::fail_errno(problem.value(), "copying " + file.path, "import without --keep-raw, or free some disk space");
  }
  return {};
}

// The captures' accounts and warnings are the session's.
core::Result<std::vector<CapturedLaunch>> take_captures(const std::vector<std::string>& paths, SessionDraft& draft,
                                                        const Services& services) {
  AACO_ASSIGN(Captures captures, read_captures(paths, services));
  for (auto& account : captures.accounts) draft.manifest().accounts.push_back(std::move(account));
  for (auto& warning : captures.warnings) draft.manifest().warnings.push_back(std::move(warning));
  return std::move(captures.launches);
}

core::Result<GraphNodes> store_graph(const ImportRequest& request, const ImportCounts& counts, SessionDraft& draft,
                                     const Services& services) {
  ModelRequest model_request;
  model_request.name = request.graph;
  model_request.batch = request.batch;
  AACO_ASSIGN(const graph::Model model, open_model(model_request, services));
  if (counts.graph_nodes > 0)
    draft.warn("import.two_graphs",
               "the files also contain a graph: it is stored in the tables, but kernels are matched to " + request.graph,
               "import without --graph to use the graph of the files");
  else
    AACO_TRY(store_model_tables(model.graph, draft));
  return nodes_of(model, core::base_name(request.graph));
}

// Only of files that hold what ran in a region: others are empty for other reasons.
std::string what_to_check(const Inputs& inputs) {
  constexpr std::array<std::string_view, 7> kTraces = {"kineto", "nsys", "rpd", "rocpd", "jax_trace", "xplane", "pftrace"};
  const bool traces = std::any_of(inputs.files.begin(), inputs.files.end(), [&](const InputFile& file) {
    return std::find(kTraces.begin(), kTraces.end(), file.info.name) != kTraces.end() ||
           core::base_name(file.path).find("kernel_trace") != std::string::npos;
  });
  return std::string(traces ? "check that the profiled region is not empty; " : "") +
         "'aaco import --help' lists the supported formats";
}

analytics::levels::Plan timeline_plan(const ImportCounts& counts) {
  if (counts.kernels + counts.copies + counts.calls == 0 || counts.last_ns <= counts.first_ns) return {};
  return analytics::levels::plan_levels(counts.total(), counts.last_ns - counts.first_ns);
}

core::Result<SessionOutcome> import_into(SessionDraft& draft, const Inputs& inputs, const ImportRequest& request,
                                         const Services& services) {
  ImportSink sink(draft.sink());
  AACO_ASSIGN(Read read, read_files(inputs, sink, draft, services));
  if (sink.counts().total() == 0 && !has_totals(read))
    return core::fail(core::ErrorCode::invalid_input, "no usable events in the files" + why_nothing_kept(read),
                      what_to_check(inputs));
  trace::SessionManifest& manifest = draft.manifest();
  manifest.home_clock = read.clock;
  if (sink.counts().first_ns <= sink.counts().last_ns) draft.phase("trace", sink.counts().first_ns, sink.counts().last_ns);
  manifest.warnings.insert(manifest.warnings.end(), inputs.warnings.begin(), inputs.warnings.end());
  read.passed.insert(read.passed.begin(), inputs.passed.begin(), inputs.passed.end());
  if (!read.passed.empty())
    draft.warn(
        "import.passed_over",
        (read.passed.size() == 1 ? "1 file was skipped: " : std::to_string(read.passed.size()) + " files were skipped, first: ") +
            core::base_name(read.passed.front().path) + " (" + read.passed.front().reason + ")");
  if (sink.counters_overflowed())
    draft.warn("import.counters_many", "too many dispatch counters to detect duplicates: some may be stored twice",
               "import fewer passes at a time");
  warn_of_missing_ranks(read, draft);
  GpuAnalysisOptions options;
  if (!request.graph.empty()) {
    AACO_ASSIGN(options.graph, store_graph(request, sink.counts(), draft, services));
  }
  AACO_TRY(write_lockbox(read, inputs, draft));
  AACO_TRY(store_partition(read.results, draft));
  if (request.keep_raw) AACO_TRY(keep_raw_files(inputs, draft));
  services.progress("writing the tables");
  AACO_TRY(draft.writer().flush());

  manifest.outcome.rows = to_json(sink.counts());
  if (!read.passed.empty()) manifest.outcome.passed_over = passed_json(read.passed);
  AACO_ASSIGN(trace::Metrics metrics, store_totals(read, sink.counts(), draft, services));
  manifest.outcome.files = read.files;  // without the lists that lie in the summary now
  const auto go_on = [&]() -> core::Status {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "import interrupted", "run the import again");
    return {};
  };
  const analytics::levels::Plan levels = timeline_plan(sink.counts());
  const bool host_only = sink.counts().kernels + sink.counts().copies == 0;
  bool has_levels = levels.empty();
  HostCalls calls;
  if (sink.counts().calls > 0 && (host_only || (sink.counts().kernels == 0 && !has_totals(read)))) {
    AACO_ASSIGN(calls, read_host_calls(draft, host_only ? levels : analytics::levels::Plan(), go_on));
    has_levels = has_levels || host_only;
  }
  const std::int64_t unseen = has_totals(read) ? 0 : calls.launch_count;  // of kernels that nobody traced
  if (unseen > 0) {
    warn_of_unseen_kernels(unseen, inputs, draft);
    if (sink.counts().copies > 0)
      metrics.push_back({"gpu.copy_sum_ns", static_cast<double>(sink.counts().copy_sum_ns), "ns", {}, {}});
  } else if (sink.counts().kernels + sink.counts().copies > 0) {
    AACO_ASSIGN(options.captures, take_captures(request.captures.empty() ? inputs.captures : request.captures, draft, services));
    options.convention = {request.count_orphans, request.count_memset};
    options.gap_threshold_ns = request.gap_threshold_ns;
    options.find_steps = sink.counts().iterations == 0;
    options.devices = read.devices;
    options.same_machine = read.same_machine;
    options.counters_apart = read.counters_apart;
    options.processes_differ = read.states_ranks();
    options.is_cut = is_cut(manifest);
    options.levels = levels;
    has_levels = true;
    AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft.writer().path(), options, draft.sink(), services));
    for (trace::Warning& warning : trace_warnings(analysis)) manifest.warnings.push_back(std::move(warning));
    manifest.outcome.gpu = to_json(analysis, options);
    metrics.insert(metrics.end(), std::make_move_iterator(analysis.metrics.begin()),
                   std::make_move_iterator(analysis.metrics.end()));
  } else if (sink.counts().calls > 0 && sink.counts().iterations == 0) {
    AACO_TRY(store_host_steps(calls, draft));
  }
  if (!has_levels) AACO_TRY(store_levels(draft.writer().path(), levels, draft.sink(), go_on));
  if (!levels.empty()) manifest.outcome.rows.set("timeline", plan_json(levels));
  AACO_TRY(draft.writer().flush());
  LoadedSession loaded(draft.writer().path());
  AACO_ASSIGN(trace::Metrics more, table_metrics(draft, loaded, 1));
  metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  write_bottleneck(draft, loaded, metrics, services.paths);
  return draft.finish(std::move(metrics), false);
}

Json request_json(const ImportRequest& request) {
  Json paths = Json::texts(request.paths);
  Json captures = Json::texts(request.captures);
  return Json::object({{"paths", std::move(paths)},
                       {"captures", std::move(captures)},
                       {"graph", request.graph},
                       {"keep_raw", request.keep_raw},
                       {"count_orphans", request.count_orphans},
                       {"count_memset", request.count_memset},
                       {"gap_threshold_ns", request.gap_threshold_ns}});
}

}  // namespace

core::Result<SessionOutcome> import(const ImportRequest& request, const Services& services) {
  AACO_ASSIGN(const Inputs inputs, importers::grouping::find_inputs(request.paths));
  std::string open_path;
  auto outcome = [&]() -> core::Result<SessionOutcome> {
    AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("import", request.tag, request_json(request), services));
    open_path = draft.writer().path();
    LiveRecord live(services.paths.sessions, draft.manifest(), core::base_name(request.paths.front()));
    live.phase("importing");
    return import_into(draft, inputs, request, services);
  }();
  if (!outcome && !open_path.empty()) AACO_TRY(core::remove_tree(open_path));  // never half a session
  return outcome;
}

namespace {

// Of a session that holds totals and no kernels.
core::Result<std::vector<TopKernel>> top_totals(const std::string& session_path, std::size_t limit) {
  std::vector<TopKernel> list;
  AACO_ASSIGN(const Json summary, read_kernel_summary(session_path));
  for (const Json& entry : summary["kernels"].items()) {
    if (list.size() >= limit) break;
    list.push_back({std::string(entry["name"].text()), std::string(entry["family"].text()), std::string(entry["library"].text()),
                    entry["count"].as_i64().value_or(0), entry["sum_ns"].as_i64().value_or(0)});
  }
  return list;
}

}  // namespace

core::Result<std::vector<TopKernel>> top_kernels(const std::string& session_path, std::size_t limit) {
  trace::NameTable names;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::KernelGroupRow>(session_path, names));
  if (rows.empty()) return top_totals(session_path, limit);
  std::map<std::uint32_t, TopKernel> by_name;
  for (const auto& row : rows) {
    TopKernel& kernel = by_name[row.kernel_name.value];
    kernel.name = names.text(row.kernel_name);
    kernel.family = names.text(row.family);
    kernel.library = names.text(row.library);
    kernel.count += row.kernel_count;
    kernel.sum_ns += row.kernel_sum_ns;
  }
  std::vector<TopKernel> list;
  for (auto& [name, kernel] : by_name) list.push_back(std::move(kernel));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.sum_ns > b.sum_ns; });
  if (list.size() > limit) list.resize(limit);
  return list;
}

}  // namespace aaco::workflows
