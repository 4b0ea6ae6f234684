#include "workflows/baseline.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/bundle.h"
#include "workflows/diff_metrics.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;
using governance::Baseline;

constexpr std::string_view kBaselineSuffix = ".yaml";
constexpr std::size_t kMaxTraceSeries = 1000;

std::int64_t now() { return core::SystemClock().now_ns(core::ClockId::realtime); }

// A ratio to zero says nothing: tokens that arrive together have no time between them.
void keep_positive(const std::string& id, std::vector<double> series, governance::BaselineSession& kept) {
  std::erase_if(series, [](double value) { return !(value > 0); });
  if (!series.empty()) kept.series[id] = governance::thin_series(series, kMaxTraceSeries);
}

governance::BaselineSession kept_of(const ComparedSession& session, const std::map<std::string, governance::Budget>& budgets) {
  governance::BaselineSession kept;
  kept.id = session.id;
  kept.kind = session.kind;
  kept.tag = session.tag;
  kept.scope = session.scope.empty() ? "iteration" : session.scope;
  kept.fingerprint_hash = session.fingerprint_hash;
  kept.items_per_iteration = session.items_per_iteration;
  kept.measured_count = static_cast<std::int64_t>(session.iterations.size());
  kept.iterations_ns = governance::thin_series(session.iterations);
  std::erase_if(kept.iterations_ns, [](double value) { return !(value > 0); });
  // What a trace's device work says of a step stands for what each device says of the whole trace.
  const auto of_work = [&](const std::string& id) { return session.work && session.work->values.contains(id); };
  for (const auto& metric : session.metrics)
    if (budgets.contains(metric.id) && std::isfinite(metric.value) && !of_work(metric.id)) kept.metrics.push_back(metric);
  for (const auto& [id, series] : session.series)
    if (budgets.contains(id)) keep_positive(id, series, kept);
  if (!session.work) return kept;
  for (const auto& [id, series] : session.work->series)
    if (budgets.contains(id) && std::all_of(series.begin(), series.end(), [](double value) { return value > 0; }))
      kept.series[id] = governance::thin_series(series, kMaxTraceSeries);
  for (const auto& [id, value] : session.work->values)
    if (budgets.contains(id)) kept.metrics.push_back(value);
  return kept;
}

// "p99=10%" -> {"latency.p99_ns", 0.1}
core::Result<std::pair<std::string, double>> parse_metric(const std::string& text, double usual) {
  const auto equals = text.find('=');
  const std::string id = metric_id(text.substr(0, equals));
  if (equals == std::string::npos) return std::pair(id, usual);
  const auto ratio = core::parse_ratio(text.substr(equals + 1));
  if (!ratio || !(*ratio > 0 && *ratio < 1))
    return core::fail(ErrorCode::invalid_argument, "invalid budget '" + text + "'",
                      "use METRIC=RATIO with a ratio above 0 and below 100 %, for example p99=10%");
  return std::pair(id, *ratio);
}

core::Status fill_budgets(const BaselineRequest& request, const ComparedSide& side, const Services& services,
                          Baseline& baseline) {
  AACO_ASSIGN(const auto catalogue,
              analytics::metrics::MetricCatalogue::load(core::join_path(services.paths.share, "data/metrics")));
  MetricChoice choice;
  std::map<std::string, double> budgets;
  for (const std::string& text : request.metrics) {
    AACO_ASSIGN(const auto parsed, parse_metric(text, request.loss_ratio));
    choice.names.push_back(parsed.first);
    budgets[parsed.first] = parsed.second;
  }
  AACO_ASSIGN(const auto metrics, comparison_metrics(choice, side, side, catalogue));
  for (const auto& metric : metrics) {
    const bool measured =
        std::all_of(metric.a.begin(), metric.a.end(), [](const auto& sample) { return !sample.series.empty() || sample.value; });
    if (!measured) {
      if (request.metrics.empty()) continue;
      return core::fail(ErrorCode::invalid_argument, "some sessions of the baseline did not measure " + metric.id,
                        "'aaco show SESSION --json' lists the metrics of a session");
    }
    if (metric.better == analytics::regression::Better::neither) continue;
    if (baseline.decides.empty()) baseline.decides = metric.id;
    const auto own = budgets.find(metric.id);
    baseline.budgets[metric.id] = {own != budgets.end() ? own->second : request.loss_ratio,
                                   metric.better == analytics::regression::Better::lower};
  }
  if (baseline.budgets.empty())
    return core::fail(ErrorCode::invalid_input, "the sessions have no metrics that a baseline can use");
  return {};
}

core::Status check_alike(const ComparedSide& side) {
  for (std::size_t i = 1; i < side.sessions.size(); ++i) {
    const auto differences = hardware::compare_fingerprints(side.sessions.front().fingerprint, side.sessions[i].fingerprint);
    if (!hardware::same_subject(differences))
      return core::fail(ErrorCode::invalid_input,
                        "the sessions of a baseline must be comparable: " + to_text(differences.front()),
                        "use sessions with the same model, batch and machine");
  }
  return {};
}

core::Status write_baseline(const std::string& path, const Baseline& baseline) {
  AACO_TRY(core::make_directories(core::parent_path(path)));
  return core::write_file_atomic(path, to_yaml(baseline));
}

}  // namespace

std::string baseline_folder(const Services& services) { return services.environment.get("AACO_BASELINES").value_or("baselines"); }

core::Result<std::string> add_baseline(const BaselineRequest& request, const Services& services) {
  AACO_TRY(governance::check_baseline_name(request.name));
  if (core::trim(request.owner).empty())
    return core::fail(ErrorCode::invalid_argument, "a baseline needs an owner", "pass --owner NAME (who is responsible for it)");
  const std::string path = core::join_path(baseline_folder(services), request.name + std::string(kBaselineSuffix));
  if (core::exists(path) && !request.replace)
    return core::fail(ErrorCode::conflict, "baseline " + request.name + " already exists",
                      "use --replace to overwrite it, or choose another name");
  AACO_ASSIGN(const ComparedSide side, load_side(request.sessions, services));
  for (const auto& session : side.sessions)
    if (session.interrupted)
      return core::fail(ErrorCode::invalid_input,
                        "session " + session.id + " stopped early (interrupted) and cannot be used as a baseline",
                        "measure it again and let it finish");
  AACO_TRY(check_alike(side));
  Baseline baseline;
  baseline.name = request.name;
  baseline.owner = std::string(core::trim(request.owner));
  baseline.reason = request.reason;
  baseline.created_realtime_ns = now();
  if (request.lifetime_ns) baseline.expires_realtime_ns = baseline.created_realtime_ns + *request.lifetime_ns;
  baseline.tool_version = services.tool_version;
  AACO_TRY(fill_budgets(request, side, services, baseline));
  for (const auto& fact : side.sessions.front().fingerprint.facts) baseline.fingerprint[fact.key] = fact.value;
  if (const auto manifest = tracelake::read_manifest(side.sessions.back().path);
      manifest && (manifest->kind == "run" || manifest->kind == "llm"))
    baseline.request = manifest->request.dump(-1);
  for (const auto& session : side.sessions) baseline.sessions.push_back(kept_of(session, baseline.budgets));
  AACO_TRY(write_baseline(path, baseline));
  return path;
}

core::Result<std::string> find_baseline(const std::string& name, const Services& services) {
  if (is_baseline_file(name)) return name;
  const std::string folder = baseline_folder(services);
  if (governance::check_baseline_name(name)) {
    const std::string path = core::join_path(folder, name + std::string(kBaselineSuffix));
    if (core::exists(path)) return path;
  }
  std::vector<std::string> names;
  if (const auto files = core::list_directory(folder))
    for (const auto& file : *files)
      if (file.ends_with(kBaselineSuffix)) names.push_back(file.substr(0, file.size() - kBaselineSuffix.size()));
  const auto near = core::nearest(name, std::vector<std::string_view>(names.begin(), names.end()));
  return core::fail(ErrorCode::not_found, "no baseline " + name + " in " + folder,
                    !near.empty() ? "did you mean " + std::string(near) + "?"
                                  : "create it with 'aaco baseline add " + name +
                                        " SESSION --owner NAME', or set AACO_BASELINES to another folder");
}

core::Result<std::vector<BaselineEntry>> list_baselines(const Services& services) {
  std::vector<BaselineEntry> entries;
  const std::string folder = baseline_folder(services);
  if (!core::exists(folder)) return entries;
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  for (const auto& file : files)
    if (file.ends_with(kBaselineSuffix)) {
      const std::string path = core::join_path(folder, file);
      entries.push_back({path, load_baseline(path)});
    }
  return entries;
}

core::Status approve_baseline(const std::string& path, const std::string& by) {
  if (core::trim(by).empty()) return core::fail(ErrorCode::invalid_argument, "an approval needs a name", "pass --by NAME");
  AACO_ASSIGN(Baseline baseline, load_baseline(path));
  baseline.approval = governance::Approval{std::string(core::trim(by)), now(), governance::content_hash(baseline)};
  return write_baseline(path, baseline);
}

Json to_json(const Baseline& baseline, std::int64_t now_realtime_ns) {
  Json budgets = Json::object();
  for (const auto& [id, budget] : baseline.budgets)
    budgets.set(id, Json::object({{"loss_ratio", budget.loss_ratio}, {"better", budget.lower_is_better ? "lower" : "higher"}}));
  std::vector<std::string> sessions;
  for (const auto& session : baseline.sessions) sessions.push_back(session.id);
  const auto state = approval_state(baseline);
  Json out = Json::object({{"name", baseline.name}, {"owner", baseline.owner}});
  if (!baseline.reason.empty()) out.set("reason", baseline.reason);
  out.set("created", core::iso8601_utc(baseline.created_realtime_ns));
  if (baseline.expires_realtime_ns) out.set("expires", core::iso8601_utc(*baseline.expires_realtime_ns));
  out.set("expired", expired(baseline, now_realtime_ns));
  out.set("approval", state == governance::Approved::yes  ? "approved"
                      : state == governance::Approved::no ? "none"
                                                          : "changed_since");
  if (baseline.approval) out.set("approved_by", baseline.approval->by);
  return out.set("decides", baseline.decides).set("budgets", std::move(budgets)).set("sessions", Json::texts(sessions));
}

}  // namespace aaco::workflows
