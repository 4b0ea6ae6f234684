#include "workflows/explain.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "core/files.h"
#include "core/strings.h"
#include "trace/kernel_name.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/explain/insight.h"
#include "workflows/llm_causes/slow_causes.h"
#include "workflows/recorded_run.h"
#include "workflows/session/metrics_files.h"
#include "workflows/session/step_time.h"
#include "workflows/session_choice.h"
#include "workflows/session_report.h"
#include "workflows/session_report/measured_advice.h"

namespace aaco::workflows {
namespace {

using analytics::anomaly::Anomaly;
using core::Json;

constexpr std::size_t kMaxExecutions = 10;
constexpr std::size_t kMaxEarlier = 50;
// What a session is laid beside earlier ones by.
constexpr std::array<std::string_view, 8> kHistoryMetrics = {"latency.p50_ns",  "latency.p99_ns",         "latency.cov_ratio",
                                                             kRunTime,          "memory.rss_peak_bytes",  "llm.ttft_p50_ns",
                                                             "llm.tpot_p50_ns", "llm.requests_per_second"};

void append(std::vector<Anomaly>& to, std::vector<Anomaly> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Executions that do the same work: kernels of one name and one grid. The first grid of a kernel keeps the kernel's name.
class SameWork {
 public:
  explicit SameWork(trace::NameTable& names) : names_(names) {}
  // Empty: a collective, whose time is that of other ranks too.
  std::optional<trace::NameId> of(const trace::KernelRow& row) {
    const Grid grid = {row.grid_x.value_or(0), row.grid_y.value_or(0), row.grid_z.value_or(0)};
    auto& grids = grids_[row.name.value];
    if (const auto known = grids.find(grid); known != grids.end()) return known->second;
    const std::string name(names_.text(row.name));
    std::optional<trace::NameId> id = row.name;
    if (core::to_lower(name).find("ccl") != std::string::npos)
      id.reset();
    else if (!grids.empty() && grids.size() < kMaxGrids)
      id = names_.intern(fmt::format("{}[grid:{}x{}x{}]", trace::short_kernel_name(name), grid[0], grid[1], grid[2]));
    return grids.emplace(grid, id).first->second;
  }

 private:
  using Grid = std::array<std::int64_t, 3>;
  static constexpr std::size_t kMaxGrids = 1000;  // of one kernel, told apart
  trace::NameTable& names_;
  std::map<std::uint32_t, std::map<Grid, std::optional<trace::NameId>>> grids_;
};

core::Result<std::vector<analytics::anomaly::Execution>> executions_of(LoadedSession& loaded) {
  constexpr std::size_t kMaxKernels = 2'000'000;
  std::vector<analytics::anomaly::Execution> list;
  AACO_ASSIGN(const auto nodes, loaded.rows<trace::NodeExecutionRow>());
  for (const auto& row : nodes) list.push_back({row.node_name, row.start_ns, row.duration_ns});
  SameWork work(loaded.names());
  const auto add = [&](std::span<const trace::KernelRow> rows) -> core::Status {
    for (const auto& row : rows)
      if (const auto name = work.of(row); name && list.size() < kMaxKernels)
        list.push_back({*name, row.start_ns, row.end_ns - row.start_ns});
    return {};
  };
  AACO_TRY(tracelake::scan_table<trace::KernelRow>(loaded.path(), loaded.names(), add));
  return list;
}

// The fingerprint of a load does not say which server was asked.
bool same_server(const std::string& path, const trace::SessionManifest& manifest) {
  const auto other = tracelake::read_manifest(path);
  return other && other->outcome.llm["url"].text() == manifest.outcome.llm["url"].text();
}

// Recordings of other commands say nothing of this one; fingerprints of older versions do not tell them apart.
bool same_command(const trace::SessionManifest& manifest, const std::string& earlier) {
  if (manifest.kind != "record") return true;
  const auto other = tracelake::read_manifest(earlier);
  if (!other) return false;
  hardware::Fingerprint a, b;
  add_command_facts(manifest.request, a);
  add_command_facts(other->request, b);
  return a == b;
}

core::Status add_history(const std::string& session_id, const trace::SessionManifest& manifest, const trace::Metrics& metrics,
                         const Services& services, Explanation& out) {
  // An imported trace does not say what ran: without a tag any other trace of the device would be compared with it.
  if (manifest.kind == "import" && manifest.tag.empty()) return {};
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(services.paths.sessions));
  std::map<std::string_view, std::vector<double>> earlier;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const auto& other = entry->manifest;
    if (other.state != "complete" || other.id.text == session_id || same_thing(other) != same_thing(manifest) ||
        other.fingerprint.empty() || other.created_realtime_ns >= manifest.created_realtime_ns)
      continue;
    if (static_cast<std::size_t>(out.compared_with) == kMaxEarlier) break;
    if (manifest.kind == "llm" && !same_server(entry->path, manifest)) continue;
    if (!same_command(manifest, entry->path)) continue;
    const auto known = read_metrics(entry->path);
    if (!known) continue;
    ++out.compared_with;
    for (const std::string_view id : kHistoryMetrics)
      if (const auto* metric = find_metric(*known, id)) earlier[id].push_back(metric->value);
  }
  for (const std::string_view id : kHistoryMetrics)
    if (const auto* metric = find_metric(metrics, id))
      if (auto found = analytics::anomaly::of_session(id, metric->value, earlier[id])) out.anomalies.push_back(std::move(*found));
  return {};
}

// Iterations are complete measured requests, counted; a request is named by its own number, as everywhere else.
core::Status name_requests(LoadedSession& loaded, std::vector<trace::IterationRow>& rows) {
  AACO_ASSIGN(const auto requests, tracelake::read_table<trace::LlmRequestRow>(loaded.path(), loaded.names()));
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> numbers;
  for (auto row = requests.rbegin(); row != requests.rend(); ++row)
    numbers[{row->scheduled_ns, row->end_ns - row->scheduled_ns}].push_back(row->request);
  for (trace::IterationRow& row : rows) {
    const auto found = numbers.find({row.start_ns, row.duration_ns});
    if (found == numbers.end() || found->second.empty()) continue;
    row.iteration = found->second.back();
    found->second.pop_back();
  }
  return {};
}

std::string_view call_word(const trace::SessionManifest& manifest) {
  if (manifest.kind != "llm") return "iteration";
  return manifest.outcome.llm["mode"].text() == "in_process" ? "generation" : "request";
}

// `one_load`: what is measured does not change within the session.
core::Result<std::vector<Anomaly>> session_anomalies(LoadedSession& loaded, const trace::SessionManifest& manifest,
                                                     bool one_load) {
  const std::string_view unit = call_word(manifest);
  const trace::NameTable& names = loaded.names();
  AACO_ASSIGN(const auto stored, loaded.rows<trace::IterationRow>());
  AACO_ASSIGN(const auto blocks, loaded.rows<trace::LoopBlockRow>());
  const auto iterations = timed_iterations(loaded.path(), manifest.outcome.gpu, stored, names).rows;
  std::vector<trace::IterationRow> measured;
  for (const char* phase : {"measure", "device_step", "step"}) {
    for (const auto& row : iterations)
      if (names.text(row.phase) == phase) measured.push_back(row);
    if (!measured.empty()) break;
  }
  if (unit == "request") {
    AACO_TRY(name_requests(loaded, measured));
    measured = analytics::anomaly::after_filling(std::move(measured));
  }
  std::vector<Anomaly> all = one_load ? analytics::anomaly::of_iterations(measured, {}, unit) : std::vector<Anomaly>();
  std::vector<Anomaly> counters = analytics::anomaly::of_blocks(blocks, names);
  analytics::anomaly::join_causes(all, counters);
  append(all, std::move(counters));
  AACO_ASSIGN(const auto executions, executions_of(loaded));
  append(all, analytics::anomaly::of_executions(executions, names, kMaxExecutions));
  return analytics::anomaly::grouped(std::move(all));
}

core::Status explain_load(const std::string& path, const trace::SessionManifest& manifest, Explanation& out) {
  out.load = std::string(manifest.outcome.llm["summary"].text());
  for (const trace::Warning& warning : manifest.warnings) {
    if (!warning.id.starts_with("llm.")) continue;
    out.causes.push_back(warning.message);
    const bool told = std::find(out.remedies.begin(), out.remedies.end(), warning.remedy) != out.remedies.end();
    if (!warning.remedy.empty() && !told) out.remedies.push_back(warning.remedy);
  }
  for (const Json& cause : manifest.outcome.llm["causes"].items()) out.causes.emplace_back(cause.text());
  const std::string file = core::join_path(path, "metrics/llm_summary.json");
  if (!core::exists(file)) return {};
  AACO_ASSIGN(const Json summary, core::read_json_file(file));
  out.levels = static_cast<std::int64_t>(summary["levels"].items().size());
  for (const Json& level : summary["levels"].items())
    if (const auto text = level["slow_tokens"]["text"].text(); !text.empty())
      out.slow_tokens.push_back(fmt::format("{}: {}", level["load"].text(), text));
  return {};
}

core::Status join_recording(const std::string& path, const std::string& observe, const Services& services, Explanation& out) {
  if (observe.empty()) return {};
  AACO_ASSIGN(const std::string recording, tracelake::find_session(services.paths.sessions, observe));
  AACO_ASSIGN(const ObservedCauses joined, observed_causes(path, recording));
  out.observed = describe(joined.server);
  out.causes.insert(out.causes.end(), joined.causes.begin(), joined.causes.end());
  out.slow_tokens.clear();
  for (const auto& [load, times] : joined.levels)
    if (const std::string text = sentence_of(times); !text.empty()) out.slow_tokens.push_back(load + ": " + text);
  return {};
}

// What the report says of a recorded program: one claim wherever it is made. Null where it has none.
core::Result<Json> recorded_bottleneck(const std::string& path, const Services& services) {
  AACO_ASSIGN(const report::ReportModel model, load_report(path, services.paths));
  if (model.why.empty()) return Json();
  const report::Statement& why = model.why.front();
  constexpr std::string_view kLimited = "Limited by ";
  return Json::object({{"schema_version", 1},
                       {"bottleneck_class", why.id},
                       {"title", why.title.starts_with(kLimited) ? why.title.substr(kLimited.size()) : why.title},
                       {"meaning", why.text},
                       {"method", "recording"},
                       {"top_evidence", Json::array()},
                       {"statements", Json::texts(why.evidence)},
                       {"optimization_priority", Json::array()},
                       {"ranking", Json::array()},
                       {"recommendations", Json::array()}});
}

}  // namespace

core::Result<Explanation> explain(const std::string& session, const Services& services, const std::string& observe) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, session));
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
  AACO_TRY(tracelake::check_files_there(path, manifest));
  AACO_ASSIGN(const auto metrics, read_metrics(path));
  Explanation out;
  out.session_id = manifest.id.text;
  LoadedSession loaded(path);
  bool one_load = true;
  if (!observe.empty() && manifest.kind != "llm")
    return core::fail(
        core::ErrorCode::invalid_argument,
        fmt::format("session {} is of kind {}: --observe requires a load on a server", out.session_id, manifest.kind),
        "'aaco ls' lists sessions and kinds");
  // The client's work says nothing about what limits the server.
  if (manifest.kind == "llm" && !manifest.outcome.llm["summary"].text().empty()) {
    AACO_TRY(explain_load(path, manifest, out));
    one_load = out.levels <= 1;
    AACO_TRY(join_recording(path, observe, services, out));
  } else {
    AACO_ASSIGN(out.bottleneck, bottleneck_document(loaded, manifest, metrics, services.paths));
    if (out.bottleneck.is_null() && manifest.kind == "record") {
      AACO_ASSIGN(out.bottleneck, recorded_bottleneck(path, services));
    }
  }
  if (!out.bottleneck["recommendations"].items().empty()) {
    AACO_ASSIGN(const auto measured, measured_advice(services.paths.sessions, out.session_id));
    if (!measured.empty()) out.bottleneck.set("recommendations", with_measured(out.bottleneck["recommendations"], measured));
  }
  AACO_ASSIGN(out.anomalies, session_anomalies(loaded, manifest, one_load));
  AACO_TRY(add_history(out.session_id, manifest, metrics, services, out));
  return out;
}

Json to_json(const Explanation& explanation) {
  Json anomalies = Json::array();
  for (const Anomaly& one : explanation.anomalies) anomalies.push(to_json(one));
  Json out = Json::object({{"schema_version", 1},
                           {"session", explanation.session_id},
                           {"bottleneck", explanation.bottleneck},
                           {"anomalies", std::move(anomalies)},
                           {"compared_with_sessions", explanation.compared_with}});
  if (!explanation.load.empty())
    out.set("load", explanation.load)
        .set("causes", Json::texts(explanation.causes))
        .set("remedies", Json::texts(explanation.remedies))
        .set("slow_tokens", Json::texts(explanation.slow_tokens));
  if (!explanation.observed.empty()) out.set("observed", explanation.observed);
  return out;
}

}  // namespace aaco::workflows
