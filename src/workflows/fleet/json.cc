#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/clock.h"
#include "workflows/fleet.h"

namespace aaco::workflows {
namespace {

using core::Json;
namespace fleet = analytics::fleet;

// The rows that a piece of evidence rests on, as SQL over the table of docs/formats/fleet.md.
std::string rows_sql(const fleet::Finding& finding, const fleet::Evidence& one) {
  const bool measured = trace::fleet_column(one.metric) < trace::kFleetValues;
  return fmt::format(
      "SELECT minute_unix_ns, {} FROM fleet_minutes WHERE node = '{}'{}{} AND minute_unix_ns >= {} AND minute_unix_ns < {}",
      measured ? "device, " + one.metric : "received_unix_ns, metric_group", finding.node,
      finding.device >= 0 ? fmt::format(" AND device = {}", finding.device) : "",
      measured ? fmt::format(" AND {} IS NOT NULL", one.metric) : "", one.since_unix_ns, one.until_unix_ns);
}

Json evidence_json(const fleet::Finding& finding, const fleet::Evidence& one) {
  return Json::object({{"metric", one.metric},
                       {one.relative ? "effect_ratio" : "effect", one.effect},
                       {"value", one.value},
                       {"peer_value", one.peer_value},
                       {"peers", one.peers},
                       {"bins", one.bins},
                       {"since_unix_ns", one.since_unix_ns},
                       {"until_unix_ns", one.until_unix_ns},
                       {"p", one.p},
                       {"q", one.q},
                       {"rows", rows_sql(finding, one)}});
}

Json head_json(const FleetReport& report) {
  Json missing = Json::array();
  for (const std::string& server : report.missing_servers) missing.push(server);
  return Json::object({{"schema_version", 1},
                       {"from", report.from},
                       {"first_unix_ns", report.first_unix_ns},
                       {"until_unix_ns", report.until_unix_ns},
                       {"bin_ns", report.bin_ns},
                       {"missing_servers", std::move(missing)}});
}

}  // namespace

Json fleet_status_json(const FleetReport& report) {
  Json kinds = Json::object();
  for (const fleet::Kind& kind : fleet::kinds()) {
    const auto count =
        std::count_if(report.findings.begin(), report.findings.end(), [&](const auto& one) { return one.kind == kind.id; });
    if (count > 0) kinds.set(kind.id, static_cast<std::int64_t>(count));
  }
  Json out = head_json(report);
  const auto found = std::count_if(report.stragglers.begin(), report.stragglers.end(),
                                   [](const auto& one) { return one.state == fleet::StragglerState::found; });
  out.set("rows", report.extent.rows)
      .set("nodes", report.extent.nodes)
      .set("devices", report.devices)
      .set("jobs", static_cast<std::int64_t>(report.jobs.size()))
      .set("duplicate_rows", report.duplicates)
      .set("late_rows", report.late)
      .set("tests", report.tests)
      .set("without_peers", report.units_without_peers)
      .set("findings", static_cast<std::int64_t>(report.findings.size()))
      .set("silenced", static_cast<std::int64_t>(report.findings.size()) -
                           static_cast<std::int64_t>(std::count(report.silenced.begin(), report.silenced.end(), "")))
      .set("findings_by_kind", std::move(kinds))
      .set("jobs_with_straggler", static_cast<std::int64_t>(found));
  return out;
}

Json fleet_findings_json(const FleetReport& report, const std::string& node) {
  Json list = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const fleet::Finding& finding = report.findings[i];
    if (!node.empty() && finding.node != node) continue;
    const fleet::Kind& kind = fleet::kind_of(finding.kind);
    Json one = Json::object({{"kind", finding.kind}, {"title", kind.title}, {"node", finding.node}});
    if (finding.device >= 0) one.set("device", finding.device);
    if (!finding.hardware.empty()) one.set("hardware", finding.hardware);
    if (!finding.job.empty()) one.set("job", finding.job);
    one.set("since", core::iso8601_utc(finding.since_unix_ns));
    one.set("since_unix_ns", finding.since_unix_ns);
    one.set("until_unix_ns", finding.until_unix_ns);
    one.set("lasting", finding.lasting);
    one.set("severity", finding.severity);
    one.set("q", finding.q());
    one.set("hint", kind.hint);
    if (!report.silenced[i].empty()) one.set("silenced", report.silenced[i]);
    Json evidence = Json::array();
    for (const fleet::Evidence& item : finding.evidence) evidence.push(evidence_json(finding, item));
    one.set("evidence", std::move(evidence));
    list.push(std::move(one));
  }
  Json out = head_json(report);
  out.set("false_discovery_rate", fleet::kFalseDiscoveryRate).set("tests", report.tests).set("findings", std::move(list));
  return out;
}

Json fleet_stragglers_json(const FleetReport& report) {
  Json list = Json::array();
  for (const fleet::JobStraggler& job : report.stragglers) {
    Json one = Json::object({{"job", job.job}, {"ranks", job.ranks}, {"verdict", fleet::to_string(job.state)}});
    if (!job.reason.empty()) one.set("reason", job.reason);
    if (job.state == fleet::StragglerState::found) {
      Json devices = Json::array();
      for (const std::int32_t device : job.devices) devices.push(device);
      Json ranks = Json::array();
      for (const std::int32_t rank : job.rank_numbers) ranks.push(rank);
      one.set("node", job.node).set("devices", std::move(devices)).set("late_ranks", std::move(ranks));
      if (!job.cause.empty()) one.set("cause", job.cause);
      one.set("late_ns_per_step", job.late_ns)
          .set("late_ratio", job.late_ratio)
          .set("last_ratio", job.last_ratio)
          .set("pattern", job.chronic ? "chronic" : "episode")
          .set("since_unix_ns", job.since_unix_ns)
          .set("until_unix_ns", job.until_unix_ns)
          .set("victims", job.ranks - static_cast<std::int32_t>(job.devices.size()))
          .set("q", job.q);
    }
    list.push(std::move(one));
  }
  Json out = head_json(report);
  out.set("jobs", std::move(list));
  return out;
}

Json fleet_jobs_json(const FleetReport& report) {
  Json list = Json::array();
  for (const fleet::JobSummary& job : report.jobs) {
    Json one = Json::object({{"job", job.job},
                             {"ranks", job.ranks},
                             {"nodes", job.nodes},
                             {"since_unix_ns", job.since_unix_ns},
                             {"until_unix_ns", job.until_unix_ns}});
    one.set_if("steps", job.steps)
        .set_if("step_ns", job.step_ns)
        .set_if("goodput_ratio", job.goodput_ratio)
        .set_if("wait_ratio", job.wait_ratio)
        .set_if("transfer_ratio", job.transfer_ratio)
        .set_if("host_ratio", job.host_ratio)
        .set_if("power_watts", job.power_watts)
        .set_if("energy_per_step_j", job.energy_per_step_j);
    list.push(std::move(one));
  }
  Json out = head_json(report);
  out.set("jobs", std::move(list));
  return out;
}

}  // namespace aaco::workflows
