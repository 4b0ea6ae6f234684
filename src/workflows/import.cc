#include "workflows/import.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "importers/builtin.h"
#include "importers/discovery.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "tracelake/lake.h"
#include "workflows/import_ranks.h"
#include "workflows/import_sink.h"
#include "workflows/insight.h"
#include "workflows/session_draft.h"
#include "workflows/table_metrics.h"

namespace aaco::workflows {
namespace {

using core::Json;

struct InputFile {
  std::string path;
  const importers::Importer* importer = nullptr;
  std::string format;
  std::optional<std::int32_t> rank;
};

struct Inputs {
  std::vector<std::unique_ptr<importers::Importer>> importers;
  std::vector<InputFile> files;
  std::vector<importers::PassedFile> passed;
};

// A Kineto trace is a process each; the files of the other profilers belong to one.
void find_ranks(std::vector<InputFile>& files) {
  std::vector<InputFile*> traces;
  std::vector<RankClue> clues;
  for (InputFile& file : files) {
    if (file.format != "kineto") continue;
    const auto head = importers::read_head(file.path);
    traces.push_back(&file);
    clues.push_back({head ? importers::kineto::rank_of(*head, {}, {}) : std::nullopt,
                     importers::kineto::rank_of({}, {}, core::base_name(file.path))});
  }
  if (traces.size() == 1 && !clues[0].text) return;  // a lone trace's file name says nothing of other ranks
  const auto ranks = assign_ranks(clues);
  for (std::size_t i = 0; i < traces.size(); ++i) traces[i]->rank = ranks[i];
}

core::Result<Inputs> find_inputs(const ImportRequest& request) {
  Inputs inputs;
  inputs.importers = importers::builtin_importers();
  std::set<std::string> seen;
  for (const std::string& path : request.paths) {
    AACO_ASSIGN(auto found, importers::discover(path, inputs.importers));
    for (const auto& file : found.files)
      if (seen.insert(core::absolute_path(file.path)).second)
        inputs.files.push_back({file.path, file.importer, file.importer->info().name, std::nullopt});
    inputs.passed.insert(inputs.passed.end(), found.passed.begin(), found.passed.end());
  }
  if (inputs.files.empty())
    return core::fail(core::ErrorCode::invalid_input, "none of the files is a profile that this program knows",
                      "'aaco import --help' lists the formats");
  find_ranks(inputs.files);
  return inputs;
}

struct Read {
  std::vector<importers::ImportResult> results;  // of the files that could be read
  Json files = Json::array();
  core::Error first_error;
  core::ClockId clock = core::ClockId::trace;
  SeenDevices devices;
};

trace::Account failed_account(const InputFile& file, const core::Error& error) {
  trace::Account account;
  account.source = file.format;
  account.state = trace::Account::State::failed;
  account.reason = core::base_name(file.path) + ": " + error.text();
  return account;
}

core::Result<Read> read_files(const Inputs& inputs, ImportSink& sink, SessionDraft& draft, const Services& services) {
  Read read;
  for (const InputFile& file : inputs.files) {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "the import was stopped", "start it again");
    services.progress("importing " + core::base_name(file.path));
    sink.set_rank(file.rank);
    auto result = [&]() -> core::Result<importers::ImportResult> {
      AACO_ASSIGN(const auto source, importers::open_file_source(file.path));
      return importers::import_source(*file.importer, *source, sink);
    }();
    AACO_TRY(sink.status());
    if (!result) {
      if (read.first_error.message.empty()) read.first_error = result.error();
      draft.manifest().accounts.push_back(failed_account(file, result.error()));
      draft.warn("import.file_failed", core::base_name(file.path) + " could not be imported: " + result.error().message,
                 result.error().remedy);
      continue;
    }
    Json entry = Json::object({{"file", core::base_name(file.path)}, {"format", file.format}});
    entry.set_if("bytes", core::file_size(file.path) ? Json(*core::file_size(file.path)) : Json());
    if (file.rank) entry.set("rank", *file.rank);
    if (!result->host.empty()) entry.set("host", result->host);
    entry.set_if("facts", result->facts);
    read.files.push(std::move(entry));
    if (read.results.empty()) read.clock = result->clock;
    add_seen_devices(result->facts, file.rank.value_or(0), read.devices);
    draft.manifest().accounts.push_back(result->account);
    for (const auto& warning : result->warnings) draft.manifest().warnings.push_back(warning);
    read.results.push_back(std::move(*result));
  }
  if (read.results.empty()) return tl::unexpected<core::Error>(std::move(read.first_error));
  return read;
}

// The lockbox of an import tells of the traced machine as far as the files do, not of this one.
core::Status write_lockbox(const Read& read, const Inputs& inputs, SessionDraft& draft) {
  std::set<std::string> formats;
  std::string host;
  for (const InputFile& file : inputs.files) formats.insert(file.format);
  for (const auto& result : read.results)
    if (host.empty()) host = result.host;
  std::string format_list;
  for (const auto& format : formats) format_list += (format_list.empty() ? "" : ",") + format;
  const auto fingerprint = hardware::make_fingerprint({{"mode", "import"}, {"runtime.name", format_list}, {"host", host}});
  draft.manifest().fingerprint = fingerprint.hash;
  return draft.writer().write_json("env.json", Json::object({{"imported", true},
                                                             {"host", host},
                                                             {"files", read.files},
                                                             {"tool_version", draft.manifest().tool_version},
                                                             {"fingerprint", to_json(fingerprint)}}));
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
      return core::fail_errno(problem.value(), "copying " + file.path, "import without --keep-raw, or free some space");
  }
  return {};
}

void warn_of_attribution(const GpuAnalysis& analysis, SessionDraft& draft) {
  for (const GpuOfTrace& gpu : analysis.gpus) {
    const auto& time = gpu.time;
    const std::string which = "GPU " + std::to_string(gpu.metric_device) + ": ";
    if (!analysis.has_api_calls) {
      draft.warn("attribution.no_launches", "the trace has no API calls: kernels cannot be joined to what launched them",
                 "trace the runtime API too (rocprofv3 --hip-trace, nsys --trace=cuda)");
      return;
    }
    if (2 * gpu.coverage.attributed_sum_ns < gpu.coverage.kernel_sum_ns)
      draft.warn("attribution.low",
                 which + std::to_string(gpu.coverage.attributed_count) + " of " + std::to_string(gpu.coverage.kernel_count) +
                     " kernels could be attributed to an operator",
                 "graph launches hide operators: give a trace of the capture too, or profile eagerly");
    if (time.invalid_count > 0 || time.out_of_order_count > 0)
      draft.warn("gpu.odd_times",
                 which + std::to_string(time.invalid_count + time.out_of_order_count) +
                     " pieces of work have times that cannot be: they end before they start",
                 "the profiler wrote wrong times; see its issue tracker");
  }
}

core::Result<SessionOutcome> import_into(SessionDraft& draft, const Inputs& inputs, const ImportRequest& request,
                                         const Services& services) {
  ImportSink sink(draft.sink());
  AACO_ASSIGN(const Read read, read_files(inputs, sink, draft, services));
  if (sink.counts().total() == 0)
    return core::fail(core::ErrorCode::invalid_input, "the files hold no event that a session could be made of",
                      "was the profiled region empty? 'aaco import --help' lists what is read");
  trace::SessionManifest& manifest = draft.manifest();
  manifest.home_clock = read.clock;
  if (sink.counts().first_ns <= sink.counts().last_ns) draft.phase("trace", sink.counts().first_ns, sink.counts().last_ns);
  if (!inputs.passed.empty())
    draft.warn("import.passed_over", std::to_string(inputs.passed.size()) + " files were passed over, the first: " +
                                         core::base_name(inputs.passed.front().path) + " (" + inputs.passed.front().reason + ")");
  AACO_TRY(write_lockbox(read, inputs, draft));
  if (request.keep_raw) AACO_TRY(keep_raw_files(inputs, draft));
  services.progress("storing the tables");
  AACO_TRY(draft.writer().flush());

  manifest.outcome = Json::object({{"files", read.files}});
  trace::Metrics metrics;
  if (sink.counts().kernels + sink.counts().copies > 0) {
    GpuAnalysisOptions options;
    options.convention = {request.count_orphans, request.count_memset};
    options.gap_threshold_ns = request.gap_threshold_ns;
    options.find_steps = sink.counts().iterations == 0;
    options.devices = read.devices;
    AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft.writer().path(), options, draft.sink(), services));
    warn_of_attribution(analysis, draft);
    manifest.outcome.set("gpu", to_json(analysis, options));
    metrics = std::move(analysis.metrics);
    AACO_TRY(draft.writer().flush());
  }
  AACO_ASSIGN(trace::Metrics more, table_metrics(draft, 1));
  metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  write_bottleneck(draft, metrics, services.paths);
  return draft.finish(std::move(metrics), false);
}

Json request_json(const ImportRequest& request) {
  Json paths = Json::array();
  for (const std::string& path : request.paths) paths.push(path);
  return Json::object({{"paths", std::move(paths)},
                       {"keep_raw", request.keep_raw},
                       {"count_orphans", request.count_orphans},
                       {"count_memset", request.count_memset},
                       {"gap_threshold_ns", request.gap_threshold_ns}});
}

}  // namespace

core::Result<SessionOutcome> import(const ImportRequest& request, const Services& services) {
  AACO_ASSIGN(const Inputs inputs, find_inputs(request));
  std::string open_path;
  auto outcome = [&]() -> core::Result<SessionOutcome> {
    AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("import", request.tag, request_json(request), services));
    open_path = draft.writer().path();
    return import_into(draft, inputs, request, services);
  }();
  if (!outcome && !open_path.empty()) AACO_TRY(core::remove_tree(open_path));  // never half a session
  return outcome;
}

core::Result<std::vector<TopKernel>> top_kernels(const std::string& session_path, std::size_t limit) {
  trace::NameTable names;
  AACO_ASSIGN(const auto rows, tracelake::read_table<trace::KernelGroupRow>(session_path, names));
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
