#include "workflows/fleet_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/clock.h"
#include "core/files.h"
#include "tracelake/bundle.h"
#include "workflows/fleet/source.h"
#include "workflows/fleet/unit_series.h"
#include "workflows/fleet_sessions.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;
constexpr std::int64_t kViewMinuteNs = 60'000'000'000;
constexpr std::size_t kMaxKeptAnswers = 64;
constexpr std::size_t kMaxKeptReports = 8;
constexpr std::size_t kMaxSessionsRead = 500;  // newest ones whose environment record is read
constexpr std::int64_t kMaxNodeSessions = 50;

std::int64_t steady_ns() { return core::SystemClock().now_ns(core::ClockId::monotonic); }

// So that the window has at most kMaxColumns bins: minutes, or what an engine has added up already.
std::int64_t view_bin_ns(std::int64_t hours) {
  const std::int64_t wanted = hours * kHourNs / FleetView::kMaxColumns;
  const std::int64_t unit = wanted <= 3 * kViewMinuteNs ? kViewMinuteNs : wanted <= kHourNs / 2 ? trace::kFleetSlotNs : kHourNs;
  return std::max<std::int64_t>(1, (wanted + unit - 1) / unit) * unit;
}

Json metric_list() {
  Json list = Json::array();
  for (const trace::FleetColumn& column : trace::kFleetColumns)
    list.push(Json::object({{"metric", column.name},
                            {"metric_group", trace::kFleetGroupNames[static_cast<std::size_t>(column.group)]},
                            {"meaning", column.meaning}}));
  return list;
}

// Names by the severity of their worst finding.
std::map<std::string, double> severities(const FleetReport& report) {
  std::map<std::string, double> out;
  for (const auto& finding : report.findings) out[finding.node] = std::max(out[finding.node], finding.severity);
  return out;
}

Json session_json(const trace::SessionManifest& manifest) {
  return Json::object({{"id", manifest.id.text}, {"kind", manifest.kind}, {"tag", manifest.tag}, {"state", manifest.state}});
}

// Sessions of this lake that ran on a host of this name, newest first.
Json sessions_of(const std::string& node, const Services& services) {
  Json list = Json::array();
  const auto entries = tracelake::list_session_heads(services.paths.sessions);
  if (!entries) return list;
  std::size_t read = 0;
  for (auto entry = entries->rbegin(); entry != entries->rend() && read < kMaxSessionsRead; ++entry, ++read) {
    const auto environment = core::read_json_file(core::join_path(entry->path, "env.json"));
    if (!environment || (*environment)["os"]["host"].text() != node) continue;
    list.push(session_json(entry->manifest));
    if (std::ssize(list.items()) == kMaxNodeSessions) break;
  }
  return list;
}

// And those that are in the fleet's engine only, with the command that explains one.
core::Status add_sessions_of_fleet(Json& list, const std::string& fleet, const std::string& node, const Services& services) {
  AACO_ASSIGN(const auto there, fleet_sessions_of_host(fleet, node, kMaxNodeSessions, services));
  for (const trace::SessionManifest& manifest : there) {
    const bool is_here = std::any_of(list.items().begin(), list.items().end(),
                                     [&](const Json& one) { return one["id"].text() == manifest.id.text; });
    if (!is_here) list.push(session_json(manifest).set("command", "aaco explain " + manifest.id.text + " --on " + fleet));
  }
  return {};
}

}  // namespace

// What an answer is about: the end of the data, in bins, and the nodes that have rows there.
struct FleetView::Window {
  FleetBins bins;
  std::vector<std::string> nodes;
};

core::Result<FleetView::Window> FleetView::window(tracelake::FleetSource& source, const Report& report,
                                                  std::int64_t hours) const {
  tracelake::FleetExtent extent;
  if (report) {
    extent = report->extent;
  } else {
    AACO_ASSIGN(extent, source.extent());
  }
  AACO_ASSIGN(FleetBins bins, fleet_bins({from_, view_bin_ns(hours), hours * kHourNs, {}}, extent));
  if (report) return Window{bins, report->nodes};
  AACO_ASSIGN(auto nodes, source.nodes(bins.first_unix_ns));
  return Window{bins, std::move(nodes)};
}

core::Result<Json> FleetView::kept(const std::string& key, const std::function<core::Result<Json>()>& make) {
  if (from_.empty())
    return core::fail(core::ErrorCode::not_found, "this server shows no fleet", "start it with --fleet FOLDER or --fleet FLEET");
  const std::int64_t now = steady_ns();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(key); found != kept_.end() && now - found->second.made_ns < kKeptNs)
      return found->second.document;
  }
  AACO_ASSIGN(Json document, make());
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kMaxKeptAnswers) kept_.clear();
  kept_[key] = {document, now};
  return document;
}

FleetView::Report FleetView::made_report(std::int64_t hours) {
  const std::lock_guard lock(mutex_);
  const auto found = reports_.find(hours);
  return found != reports_.end() && steady_ns() < found->second.until_ns ? found->second.report : nullptr;
}

core::Result<FleetView::Report> FleetView::report(std::int64_t hours) {
  const std::lock_guard one_at_a_time(analysing_);
  if (Report made = made_report(hours)) return made;
  const std::int64_t begun = steady_ns();
  FleetRequest request;
  request.from = from_;
  request.last_ns = hours * kHourNs;
  AACO_ASSIGN(auto made, analyse_fleet(request, services_));
  const std::int64_t now = steady_ns();
  const std::lock_guard lock(mutex_);
  if (reports_.size() >= kMaxKeptReports) reports_.clear();
  KeptReport& kept = reports_[hours];
  kept = {std::make_shared<const FleetReport>(std::move(made)), now + std::max(kKeptNs, kKeptPerMaking * (now - begun))};
  return kept.report;
}

core::Result<Json> FleetView::overview(std::int64_t hours) {
  return kept("overview " + std::to_string(hours), [&]() -> core::Result<Json> {
    AACO_ASSIGN(const Report now, report(hours));
    Json out = Json::object({{"schema_version", 1}, {"nodes", now->extent.nodes}});
    return out.set("status", fleet_status_json(*now))
        .set("findings", fleet_findings_json(*now, "")["findings"])
        .set("stragglers", fleet_stragglers_json(*now)["jobs"])
        .set("metrics", metric_list());
  });
}

core::Result<Json> FleetView::heat(const std::string& metric, std::int64_t hours) {
  if (trace::fleet_column(metric) == trace::kFleetValues)
    return core::fail(core::ErrorCode::invalid_argument, "unknown metric '" + metric + "'", "/api/v1/fleet lists the metrics");
  const Report report = made_report(hours);
  return kept(fmt::format("heat {} {} {}", metric, hours, report != nullptr), [&] { return make_heat(metric, hours, report); });
}

core::Result<Json> FleetView::make_heat(const std::string& metric, std::int64_t hours, const Report& report) {
  AACO_ASSIGN(const auto source, open_fleet_source(from_, services_));
  AACO_ASSIGN(Window window, this->window(*source, report, hours));
  const FleetBins& bins = window.bins;
  const trace::FleetColumn& column = trace::kFleetColumns[trace::fleet_column(metric)];
  AACO_ASSIGN(const auto series, source->node_means(trace::fleet_column(metric), bins.first_unix_ns, bins.count, bins.bin_ns));
  const auto severity = report ? severities(*report) : std::map<std::string, double>();
  const auto of = [&](const std::string& node) {
    const auto found = severity.find(node);
    return found == severity.end() ? 0.0 : found->second;
  };
  std::stable_sort(window.nodes.begin(), window.nodes.end(), [&](const auto& a, const auto& b) { return of(a) > of(b); });
  Json rows = Json::array(), worst = Json::array();
  for (const std::string& name : window.nodes) {
    const auto found = series.find(name);
    rows.push(found == series.end() ? Json::array() : series_json(found->second));
    worst.push(of(name));
  }
  return Json::object({{"schema_version", 1},
                       {"metric", metric},
                       {"meaning", column.meaning},
                       {"metrics", metric_list()},
                       {"judged", report != nullptr},
                       {"first_unix_ns", bins.first_unix_ns},
                       {"bin_ns", bins.bin_ns},
                       {"bins", static_cast<std::int64_t>(bins.count)},
                       {"nodes", Json::texts(window.nodes)},
                       {"severity", std::move(worst)},
                       {"values", std::move(rows)}});
}

core::Result<Json> FleetView::node(const std::string& name, std::int64_t hours) {
  const Report report = made_report(hours);
  return kept(fmt::format("node {} {} {}", name, hours, report != nullptr), [&] { return make_node(name, hours, report); });
}

core::Result<Json> FleetView::make_node(const std::string& name, std::int64_t hours, const Report& report) {
  AACO_ASSIGN(const auto source, open_fleet_source(from_, services_));
  AACO_ASSIGN(const Window window, this->window(*source, report, hours));
  const FleetBins& bins = window.bins;
  if (!std::binary_search(window.nodes.begin(), window.nodes.end(), name))
    return core::fail(core::ErrorCode::not_found, "no telemetry of node '" + name + "'", "/api/v1/fleet/heat lists the nodes");
  Json series = Json::array();
  for (const trace::FleetGroup group : trace::kFleetGroups) {
    AACO_ASSIGN(const auto cells, source->cells(group, bins.first_unix_ns, bins.count, bins.bin_ns, name));
    for (Json& one : unit_series_json(cells, group, name)) series.push(std::move(one));
  }
  Json sessions = sessions_of(name, services_);
  if (!is_fleet_files(from_)) AACO_TRY(add_sessions_of_fleet(sessions, from_, name, services_));
  return Json::object({{"schema_version", 1},
                       {"node", name},
                       {"judged", report != nullptr},
                       {"first_unix_ns", bins.first_unix_ns},
                       {"bin_ns", bins.bin_ns},
                       {"bins", static_cast<std::int64_t>(bins.count)},
                       {"findings", report ? fleet_findings_json(*report, name)["findings"] : Json::array()},
                       {"series", std::move(series)},
                       {"sessions", std::move(sessions)}});
}

}  // namespace aaco::workflows
