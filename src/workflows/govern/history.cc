#include "workflows/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analytics/metric_catalogue.h"
#include "core/files.h"
#include "trace/session_kind.h"
#include "tracelake/bundle.h"
#include "tracelake/metric_index.h"
#include "workflows/diff_metrics.h"
#include "workflows/fleet_sessions.h"
#include "workflows/govern/history_files.h"
#include "workflows/session/metrics_files.h"
#include "workflows/session/traced_devices.h"
#include "workflows/session_choice.h"

namespace aaco::workflows {
namespace {

using analytics::metrics::Direction;
using core::ErrorCode;

constexpr std::size_t kFewest = 6;  // sessions, below which nothing is told
constexpr std::string_view kInterrupted = "interrupted";

std::string described(const trace::SessionManifest& manifest) {
  std::string text = fact_of(manifest, "model");
  if (const std::string backend = fact_of(manifest, "backend"); !backend.empty()) text += " on " + backend;
  if (const auto batch = manifest.outcome.batch) text += ", batch " + std::to_string(*batch);
  if (const auto threads = manifest.outcome.threads; threads && *threads > 0)
    text += ", " + std::to_string(*threads) + (*threads == 1 ? " thread" : " threads");
  if (!text.empty()) return text;
  text = trace::kind_noun(manifest.kind);
  if (!manifest.tag.empty()) text += " tag:" + manifest.tag;
  if (const std::string devices = traced_devices(manifest.outcome.files); !devices.empty()) text += ", " + devices;
  return text;
}

// " with model=net, tag=release"; nothing where all sessions are meant.
std::string text_of(const SessionWhere& where) {
  std::string text;
  for (const auto& [key, value] : where) text += (text.empty() ? " with " : ", ") + key + "=" + value;
  return text;
}

// The series of sessions, one for each fingerprint.
class SessionSeries {
 public:
  SessionSeries(const HistoryRequest& request, const std::string& metric, trace::Account& account)
      : request_(request), metric_(metric), account_(account) {}
  // Whether the value of a session is wanted; counts those that are incomplete.
  bool wants(const trace::SessionManifest& manifest, const std::vector<std::string>& noted_tags = {}) {
    if (!is_meant(manifest, request_.where, noted_tags) || trace::is_summary_kind(manifest.kind)) return false;
    if (manifest.whole()) return true;
    account_.drop("session is incomplete");
    return false;
  }
  void add(const trace::SessionManifest& manifest, const std::optional<double>& value, const std::string& unit) {
    if (!value || !std::isfinite(*value)) return account_.drop("metric not measured");
    const auto [series, fresh] = place_.try_emplace(same_thing(manifest), all_.size());
    if (fresh) all_.push_back({metric_, unit, described(manifest), {}, {}, {}, {}, {}});
    HistorySeries& one = all_[series->second];
    const HistoryPoint point{manifest.id.text, manifest.created_realtime_ns, *value};
    if (manifest.state == kInterrupted) {
      account_.drop("session was interrupted");
      return one.interrupted.push_back(point);
    }
    account_.keep();
    one.points.push_back(point);
  }
  // Fails with not_found where no session of `root` has the metric.
  core::Result<std::vector<HistorySeries>> result(const std::string& root, const Services& services) {
    if (!all_.empty()) return std::move(all_);
    AACO_ASSIGN(const auto catalogue,
                analytics::metrics::MetricCatalogue::load(core::join_path(services.paths.share, "data/metrics")));
    return core::fail(ErrorCode::not_found, "no session in " + root + text_of(request_.where) + " has the metric " + metric_,
                      catalogue.find(metric_) == nullptr
                          ? metric_hint(request_.metric, catalogue)
                          : "'aaco ls' lists the sessions; --from reads a table or benchmark JSON");
  }

 private:
  const HistoryRequest& request_;
  const std::string& metric_;
  trace::Account& account_;
  std::vector<HistorySeries> all_;
  std::map<std::string, std::size_t> place_;
};

core::Result<std::vector<HistorySeries>> of_lake(const HistoryRequest& request, const std::string& metric,
                                                 trace::Account& account, const Services& services) {
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(services.paths.sessions));
  SessionSeries series(request, metric, account);
  tracelake::MetricIndex index(services.paths.sessions, metric, read_metrics);
  for (const auto& entry : entries) {
    if (!series.wants(entry.manifest, entry.noted_tags)) continue;
    const auto found = index.find(entry.path);
    if (!found)
      account.drop("metrics not readable");
    else if (const auto& value = *found)
      series.add(entry.manifest, value->value, value->unit);
    else
      series.add(entry.manifest, std::nullopt, "");
  }
  index.save();
  return series.result(services.paths.sessions, services);
}

core::Result<std::vector<HistorySeries>> of_fleet(const HistoryRequest& request, const std::string& metric,
                                                  HistoryOutcome& outcome, const Services& services) {
  std::vector<std::string> missing;
  AACO_ASSIGN(const auto sessions, fleet_sessions(request.on, metric, missing, services));
  for (const std::string& server : missing)
    outcome.notes.push_back(server + " cannot be reached: its sessions are not in the series");
  SessionSeries series(request, metric, outcome.account);
  for (const FleetSession& one : sessions)
    if (series.wants(one.manifest)) series.add(one.manifest, one.value, one.unit);
  return series.result(request.on, services);
}

core::Status check_session_where(const HistoryRequest& request) {
  const auto known = check_where(request.where);
  if (known) return {};
  core::Error error = known.error();
  error.remedy += "; column filters apply only to tables passed with --from";
  return tl::unexpected<core::Error>(std::move(error));
}

void analyze(HistorySeries& series, const HistoryRequest& request) {
  if (request.last && series.points.size() > *request.last)
    series.points.erase(series.points.begin(), series.points.end() - static_cast<std::ptrdiff_t>(*request.last));
  if (request.lower_is_better) series.lower_is_better = request.lower_is_better;
  std::vector<analytics::trend::Observation> observations;
  for (const HistoryPoint& point : series.points) observations.push_back({point.value, point.time_ns});
  analytics::trend::Options options = request.options;
  options.lower_is_better = series.lower_is_better;
  auto trend = analytics::trend::analyze(observations, options);
  if (!trend) {
    series.reason = trend.error().message;
    return;
  }
  series.trend = *std::move(trend);
  if (!series.trend->tells_steps)
    series.reason = fmt::format("{} values cannot tell a step from chance: at least {} are needed", series.points.size(),
                                analytics::trend::kFewestForSteps);
}

// Of the documents in data/metrics only those that name the metric are parsed: all of them would be a tenth of the command's
// time.
core::Result<std::optional<bool>> direction_of(const std::string& folder, const std::string& metric) {
  analytics::metrics::MetricCatalogue catalogue;
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  for (const std::string& name : files) {
    if (!name.ends_with(".yaml")) continue;
    const std::string file = core::join_path(folder, name);
    AACO_ASSIGN(const std::string text, core::read_file(file));
    if (text.find(metric) == std::string::npos) continue;
    AACO_ASSIGN(const auto document, core::YamlNode::parse(text, file));
    AACO_TRY(catalogue.add(document));
  }
  const auto* definition = catalogue.find(metric);
  if (definition == nullptr || definition->direction == Direction::none) return std::optional<bool>();
  return std::optional(definition->direction == Direction::lower_is_better);
}

// Who sets a limit has to know on which side of it the series is meant to be.
core::Status check_directions(const HistoryRequest& request, HistoryOutcome& outcome) {
  if ((!request.options.limit && !request.options.budget_ratio) || request.lower_is_better) return {};
  const auto unknown = [](const HistorySeries& one) { return !one.lower_is_better; };
  const auto count = std::count_if(outcome.series.begin(), outcome.series.end(), unknown);
  if (count == 0) return {};
  const std::string first = std::find_if(outcome.series.begin(), outcome.series.end(), unknown)->name;
  if (count == static_cast<std::ptrdiff_t>(outcome.series.size()))
    return core::fail(ErrorCode::invalid_argument,
                      "the better direction of " + first + " is unknown, so it cannot be checked against a limit or budget",
                      "pass --better lower or --better higher");
  outcome.notes.push_back(
      std::to_string(count) +
      " series were not checked against the limit because their better direction is unknown (pass --better); first: " + first);
  return {};
}

}  // namespace

bool HistoryOutcome::alarmed() const {
  return std::any_of(series.begin(), series.end(),
                     [](const HistorySeries& one) { return one.trend && !one.trend->alarms.empty(); });
}

bool HistoryOutcome::worsened() const {
  return std::any_of(series.begin(), series.end(), [](const HistorySeries& one) { return one.trend && one.trend->worsened(); });
}

core::Result<HistoryOutcome> history(const HistoryRequest& request, const Services& services) {
  HistoryOutcome outcome;
  if (!request.files.empty() && !request.on.empty())
    return core::fail(ErrorCode::invalid_argument, "--from and --on cannot be combined", "pass one of them");
  if (!request.files.empty()) {
    AACO_ASSIGN(outcome.series, series_of_files(request, outcome.account));
  } else {
    if (request.metric.empty())
      return core::fail(ErrorCode::invalid_argument, "no metric given",
                        "for example: aaco history p50, or aaco history --from data.js");
    const std::string metric = metric_id(request.metric);
    AACO_ASSIGN(const auto direction, direction_of(core::join_path(services.paths.share, "data/metrics"), metric));
    outcome.account.source = "sessions";
    AACO_TRY(check_session_where(request));
    AACO_ASSIGN(outcome.series, request.on.empty() ? of_lake(request, metric, outcome.account, services)
                                                   : of_fleet(request, metric, outcome, services));
    for (auto& series : outcome.series) series.lower_is_better = direction;
    if (outcome.series.size() > 1)
      outcome.notes.emplace_back(
          "sessions with different fingerprints are not comparable: each fingerprint is a separate series");
  }
  AACO_TRY(check_directions(request, outcome));
  for (auto& series : outcome.series) {
    services.progress("analysing " + series.name);
    analyze(series, request);
    if (series.points.size() < kFewest) series.reason = "need at least 6 values, have " + std::to_string(series.points.size());
  }
  return outcome;
}

}  // namespace aaco::workflows
