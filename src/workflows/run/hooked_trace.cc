#include "workflows/run/hooked_trace.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "importers/grouping.h"
#include "workflows/gpu/gpu_analysis_json.h"
#include "workflows/gpu_analysis.h"
#include "workflows/import/import_read.h"
#include "workflows/import/import_warnings.h"
#include "workflows/run/join_sink.h"
#include "workflows/run/traced_calls.h"
#include "workflows/timeline_window.h"

namespace aaco::workflows {
namespace {

using analytics::call_join::Reason;
using core::Json;
using importers::grouping::InputFile;
using importers::grouping::Inputs;

std::int64_t changed_ns(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return INT64_MIN;
  return facts.st_mtim.tv_sec * 1'000'000'000LL + facts.st_mtim.tv_nsec;
}

// The files that the command wrote; older ones are of another run.
core::Result<Inputs> new_inputs(const std::vector<std::string>& paths, std::int64_t not_before_ns,
                                std::vector<std::string>& old) {
  constexpr std::int64_t kTickNs = 20'000'000;  // of a file system's times
  AACO_ASSIGN(Inputs inputs, importers::grouping::find_inputs(paths));
  std::erase_if(inputs.files, [&](const InputFile& file) {
    const bool is_old = changed_ns(file.path) < not_before_ns - kTickNs;
    if (is_old) old.push_back(core::base_name(file.path));
    return is_old;
  });
  if (inputs.files.empty())
    return core::fail(core::ErrorCode::not_found, old.front() + " is older than this recording",
                      "check that the command writes its trace there");
  return inputs;
}

std::optional<std::int64_t> base_of(const Read& read) {
  for (const auto& result : read.results)
    if (const auto base = result.facts["base_time_ns"].as_i64()) return base;
  return std::nullopt;
}

Json to_json(const JoinSink::Counts& counts) {
  Json reasons = Json::object();
  std::int64_t apart = 0;
  for (const auto& [reason, count] : counts.apart) {
    reasons.set(std::string(text_of(reason)), static_cast<long long>(count));
    apart += count;
  }
  return Json::object({{"by_correlation", static_cast<long long>(counts.by_correlation)},
                       {"by_order", static_cast<long long>(counts.by_order)},
                       {"not_joined", static_cast<long long>(apart)},
                       {"reasons", std::move(reasons)}});
}

void warn_of_rest(const JoinSink& sink, const TraceJoin& join, SessionDraft& draft) {
  std::int64_t total = sink.kernels.by_correlation + sink.kernels.by_order, apart = 0;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : sink.kernels.apart) {
    apart += count;
    reasons.push_back(core::format_count(static_cast<double>(count)) + " " + std::string(text_of(reason)));
  }
  total += apart;
  if (join.clock.empty())
    draft.warn(
        "hooks.trace_clock",
        "the trace's times are outside the recording in every clock that they could be of: its kernels cannot be compared with "
        "calls and telemetry",
        "check that the trace is of this run");
  if (apart == 0) return;
  draft.warn("hooks.kernels_not_joined",
             fmt::format("{} of {} kernels were not joined to hooked calls: {}", core::format_count(static_cast<double>(apart)),
                         core::format_count(static_cast<double>(total)), core::join(reasons, ", ")),
             join.several
                 ? "the calls are too regular to tell the trace's clock by them; record with the profiler's API trace in a "
                   "clock of the system (monotonic, boot time, wall time)"
                 : "their times are complete; queries by correlation_id find no call for them");
}

trace::Metrics join_metrics(const JoinSink& sink) {
  const std::int64_t joined = sink.kernels.by_correlation + sink.kernels.by_order;
  std::int64_t total = joined;
  for (const auto& [reason, count] : sink.kernels.apart) total += count;
  if (total == 0) return {};
  return {{"calls.joined_kernel_ratio", static_cast<double>(joined) / static_cast<double>(total), "ratio", {}, {}}};
}

void tell_join(const JoinSink& sink, const TraceJoin& join, const Read& read, SessionDraft& draft) {
  Json told = Json::object({{"files", read.files},
                            {"clock", join.clock},
                            {"shift_ns", static_cast<long long>(join.shift_ns)},
                            {"hooked_calls", static_cast<long long>(join.first_free - 1)},
                            {"calls_in_both", static_cast<long long>(sink.same_calls)},
                            {"kernels", to_json(sink.kernels)},
                            {"copies", to_json(sink.copies)}});
  Json& rest = draft.manifest().outcome.rest;
  if (rest.is_null()) rest = Json::object();
  Json calls = rest["gpu_calls"];
  if (!calls.is_object()) calls = Json::object();
  calls.set("joined", std::move(told));
  rest.set("gpu_calls", std::move(calls));
  warn_of_rest(sink, join, draft);
}

core::Result<trace::Metrics> analyse(const Read& read, const ImportSink& sink, std::int64_t hooked_calls, SessionDraft& draft,
                                     const Services& services) {
  const ImportCounts& counts = sink.counts();
  if (counts.kernels + counts.copies == 0) return trace::Metrics();
  GpuAnalysisOptions options;
  options.find_steps = counts.iterations == 0;
  options.devices = read.devices;
  if (counts.last_ns > counts.first_ns)
    options.levels = analytics::levels::plan_levels(counts.total() + hooked_calls, counts.last_ns - counts.first_ns);
  AACO_ASSIGN(GpuAnalysis analysis, analyse_gpu(draft.writer().path(), options, draft.sink(), services));
  for (trace::Warning& warning : trace_warnings(analysis)) draft.manifest().warnings.push_back(std::move(warning));
  trace::Outcome& outcome = draft.manifest().outcome;
  outcome.gpu = to_json(analysis, options);
  if (!options.levels.empty()) {
    if (outcome.rows.is_null()) outcome.rows = Json::object();
    outcome.rows.set("timeline", plan_json(options.levels));
  }
  return std::move(analysis.metrics);
}

// Accounts and warnings of the first reading are those of the second.
core::Result<Read> look(const Inputs& inputs, TracedCalls& traced, SessionDraft& draft, const Services& services) {
  auto& manifest = draft.manifest();
  const std::size_t accounts = manifest.accounts.size(), warnings = manifest.warnings.size();
  ImportSink sink(traced);
  auto read = read_files(inputs, sink, draft, services);
  manifest.accounts.resize(accounts);
  manifest.warnings.resize(warnings);
  traced.seal();
  return read;
}

}  // namespace

bool has_new_trace(const std::vector<std::string>& paths, std::int64_t not_before_realtime_ns) {
  std::vector<std::string> old;
  return new_inputs(paths, not_before_realtime_ns, old).has_value();
}

core::Result<trace::Metrics> import_hooked_trace(const std::vector<std::string>& paths, std::int64_t not_before_realtime_ns,
                                                 SessionDraft& draft, const Services& services) {
  const auto no_trace = [&](const core::Error& error) {
    draft.warn("hooks.no_trace", "the trace was not imported: " + error.message, error.remedy);
    return trace::Metrics();
  };
  std::vector<std::string> old;
  const auto inputs = new_inputs(paths, not_before_realtime_ns, old);
  if (!inputs) return no_trace(inputs.error());
  if (!old.empty())
    draft.warn("hooks.old_traces",
               fmt::format("{} files that are older than this recording were not imported, first: {}", old.size(), old.front()),
               "use an empty folder for the trace");
  trace::NameTable names;
  TracedCalls traced(names);
  const auto first = look(*inputs, traced, draft, services);
  if (!first && first.error().code == core::ErrorCode::cancelled) return trace::Metrics();
  if (!first) return no_trace(first.error());
  services.progress("joining kernels to hooked calls");
  AACO_ASSIGN(const TraceJoin join,
              join_traced_calls(draft.writer().path(), traced, names, draft.manifest().clocks, base_of(*first), services));
  JoinSink joined(draft.sink(), traced, join);
  ImportSink sink(joined, join.shift_ns);
  AACO_ASSIGN(const Read read, read_files(*inputs, sink, draft, services));
  AACO_TRY(draft.writer().flush());
  tell_join(joined, join, read, draft);
  AACO_ASSIGN(trace::Metrics metrics, analyse(read, sink, static_cast<std::int64_t>(join.first_free), draft, services));
  for (auto& metric : join_metrics(joined)) metrics.push_back(std::move(metric));
  AACO_TRY(draft.writer().flush());
  return metrics;
}

}  // namespace aaco::workflows
