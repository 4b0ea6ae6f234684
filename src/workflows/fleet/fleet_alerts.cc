#include "workflows/fleet_alerts.h"

#include <fmt/format.h>

#include "core/clock.h"
#include "core/http.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using core::Json;
namespace fleet = analytics::fleet;

constexpr double kCriticalSeverity = 4;  // times the smallest effect that matters

// "slow_gpu" -> "AacoSlowGpu"
std::string alert_name(std::string_view kind) {
  std::string name = "Aaco";
  bool upper = true;
  for (const char c : kind) {
    if (c == '_')
      upper = true;
    else
      name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (c != '_') upper = false;
  }
  return name;
}

Json alert_json(Json labels, Json annotations, std::int64_t since_unix_ns, std::int64_t until_unix_ns, bool lasting,
                const std::string& link) {
  Json alert = Json::object(
      {{"labels", std::move(labels)}, {"annotations", std::move(annotations)}, {"startsAt", core::iso8601_utc(since_unix_ns)}});
  if (!lasting) alert.set("endsAt", core::iso8601_utc(until_unix_ns));
  if (!link.empty()) alert.set("generatorURL", link);
  return alert;
}

Json finding_alert(const fleet::Finding& finding, const std::string& link) {
  const fleet::Kind& kind = fleet::kind_of(finding.kind);
  Json labels = Json::object({{"alertname", alert_name(finding.kind)},
                              {"kind", finding.kind},
                              {"node", finding.node},
                              {"severity", finding.severity >= kCriticalSeverity ? "critical" : "warning"}});
  if (finding.device >= 0) labels.set("device", std::to_string(finding.device));
  if (!finding.job.empty()) labels.set("job_name", finding.job);  // Prometheus has another meaning for "job"
  const std::string where = finding.device >= 0 ? fmt::format("{} device {}", finding.node, finding.device) : finding.node;
  Json annotations = Json::object({{"summary", fmt::format("{}: {}", where, kind.title)}, {"hint", kind.hint}});
  if (!finding.evidence.empty()) {
    const fleet::Evidence& one = finding.evidence.front();
    annotations.set("description", fmt::format("{} is {:.4g}, {} peers have {:.4g}; q {:.1e}", one.metric, one.value, one.peers,
                                               one.peer_value, one.q));
  }
  return alert_json(std::move(labels), std::move(annotations), finding.since_unix_ns, finding.until_unix_ns, finding.lasting,
                    link.empty() ? "" : fmt::format("{}/#/fleet?node={}", link, finding.node));
}

Json straggler_alert(const fleet::JobStraggler& job, bool lasting, const std::string& link) {
  Json labels = Json::object({{"alertname", "AacoStraggler"},
                              {"kind", "straggler"},
                              {"node", job.node},
                              {"severity", "warning"},
                              {"job_name", job.job}});
  Json annotations =
      Json::object({{"summary", fmt::format("{}: {} other ranks wait for {}", job.job,
                                            job.ranks - static_cast<std::int32_t>(job.devices.size()), job.node)},
                    {"description", fmt::format("late by {} of the step, last in {} of the bins",
                                                core::format_percent(job.late_ratio), core::format_percent(job.last_ratio))}});
  return alert_json(std::move(labels), std::move(annotations), job.since_unix_ns, job.until_unix_ns, lasting,
                    link.empty() ? "" : link + "/#/fleet");
}

}  // namespace

Json fleet_alerts_json(const FleetReport& report, bool active_only, const std::string& link) {
  Json alerts = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const fleet::Finding& finding = report.findings[i];
    if (!report.silenced[i].empty() || (active_only && !finding.lasting)) continue;
    alerts.push(finding_alert(finding, link));
  }
  for (const fleet::JobStraggler& job : report.stragglers) {
    const bool lasting = job.until_unix_ns + report.bin_ns >= report.until_unix_ns;
    if (job.state == fleet::StragglerState::found && (lasting || !active_only)) alerts.push(straggler_alert(job, lasting, link));
  }
  return alerts;
}

core::Status send_fleet_alerts(const Json& alerts, const std::string& url) {
  core::HttpRequest request;
  request.method = "POST";
  request.url = (url.ends_with('/') ? url.substr(0, url.size() - 1) : url) + "/api/v2/alerts";
  request.body = alerts.dump(-1);
  AACO_ASSIGN(const auto reply, core::http_send(request));
  if (reply.status / 100 != 2)
    return core::fail(
        core::ErrorCode::invalid_input,
        fmt::format("{} refused the alerts (status {}): {}", request.url, reply.status, core::trim(reply.body.substr(0, 300))),
        "pass the address of an Alertmanager, such as http://localhost:9093");
  return {};
}

}  // namespace aaco::workflows
