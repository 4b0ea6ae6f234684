#include "cli/output/fleet_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/clock.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

namespace fleet = analytics::fleet;
using workflows::FleetReport;

// To the minute.
std::string fleet_time(std::int64_t unix_ns) {
  std::string text = core::iso8601_utc(unix_ns).substr(0, 16);
  text[10] = ' ';
  return text;
}

// Names come from telemetry: they must not steer the terminal.
std::string unit_text(const std::string& node, std::int32_t device) {
  return report::printable(node) + (device >= 0 ? fmt::format(" device {}", device) : "");
}

std::string amount(const std::string& metric, double value) {
  if (metric.ends_with("_ns")) return core::format_duration(value);
  if (metric.ends_with("_ratio")) return core::format_percent(value);
  if (metric.ends_with("_hz")) return fmt::format("{:.0f} MHz", value / 1e6);
  if (metric.ends_with("_watts")) return fmt::format("{:.0f} W", value);
  if (metric.ends_with("_celsius")) return fmt::format("{:.1f} °C", value);
  return fmt::format("{:.3g} per bin", value);
}

std::string effect_text(const fleet::Evidence& one) {
  if (one.relative) return core::format_signed_percent(one.effect);
  const std::string sign = one.effect < 0 ? "-" : "+";
  if (one.metric.ends_with("_ns") || one.metric.ends_with("_ratio") || one.metric.ends_with("_celsius"))
    return sign + amount(one.metric, std::fabs(one.effect)) + (one.metric.ends_with("_ratio") ? " points" : "");
  return fmt::format("{}{:.3g} per hour", sign, std::fabs(one.effect));
}

std::string evidence_text(const fleet::Evidence& one) {
  return fmt::format("{} {} (peers {}, {} of them; {}), q {:.1e}", one.metric, amount(one.metric, one.value),
                     amount(one.metric, one.peer_value), one.peers, effect_text(one), one.q);
}

std::string when_text(const fleet::Finding& finding) {
  if (finding.lasting) return "since " + fleet_time(finding.since_unix_ns);
  return fleet_time(finding.since_unix_ns) + " to " + fleet_time(finding.until_unix_ns);
}

std::string range_text(const FleetReport& report) {
  return fmt::format("{} to {} UTC, bins of {}", fleet_time(report.first_unix_ns), fleet_time(report.until_unix_ns),
                     core::format_duration(static_cast<double>(report.bin_ns)));
}

std::string straggler_text(const fleet::JobStraggler& job) {
  const std::string name = report::printable(job.job);
  if (job.state == fleet::StragglerState::cannot_tell)
    return fmt::format("{}: cannot tell: {}\n", name, report::printable(job.reason));
  if (job.state == fleet::StragglerState::none) return fmt::format("{}: no straggler among {} ranks\n", name, job.ranks);
  const std::string who = job.devices.size() == 1
                              ? unit_text(job.node, job.devices.front())
                              : fmt::format("{} ({} devices)", report::printable(job.node), job.devices.size());
  std::string text =
      fmt::format("{}: {} arrives last in {} of the bins, {} per step late ({} of the step); {}, {} to {}; q {:.1e}\n", name, who,
                  core::format_percent(job.last_ratio), core::format_duration(job.late_ns), core::format_percent(job.late_ratio),
                  job.chronic ? "chronic" : "an episode", fleet_time(job.since_unix_ns), fleet_time(job.until_unix_ns), job.q);
  const std::string cause = job.cause == "compute"    ? "its compute time is longer: slow device"
                            : job.cause == "host"     ? "its device waits longer for the host: slow host"
                            : job.cause == "transfer" ? "its transfers take longer: slow link"
                                                      : "no part of its step is longer than that of its peers";
  text += fmt::format("  cause: {}; victims: {} other ranks\n", cause, job.ranks - static_cast<std::int32_t>(job.devices.size()));
  return text + fmt::format("  hint: move the rank off this {}; expected gain: up to {} of the step\n",
                            job.devices.size() == 1 ? "device" : "node", core::format_percent(job.late_ratio));
}

std::string or_dash(const std::optional<double>& value, std::string (*text)(double)) { return value ? text(*value) : "-"; }

std::string joules(double value) { return fmt::format("{:.3g} J", value); }

std::string tally_line(std::string_view name, const laboratory::fleet::Tally& tally) {
  if (tally.count == 0) return {};
  return fmt::format("  {:<18} found {:>4} of {:<4}  right kind {:>4}\n", name, tally.found, tally.count, tally.named);
}

}  // namespace

std::string fleet_status_text(const FleetReport& report) {
  std::string text =
      fmt::format("{} nodes, {} devices, {} jobs; {} rows; {}\n", report.extent.nodes, report.devices, report.jobs.size(),
                  core::format_count(static_cast<double>(report.extent.rows)), range_text(report));
  text += fmt::format("{} duplicate rows (counted once), {} rows received more than {} late\n", report.duplicates, report.late,
                      core::format_duration(trace::kFleetLateNs));
  text += fmt::format("{} findings from {} tests (false discovery rate {})", report.findings.size(), report.tests,
                      core::format_percent(fleet::kFalseDiscoveryRate));
  const auto silenced =
      report.findings.size() - static_cast<std::size_t>(std::count(report.silenced.begin(), report.silenced.end(), ""));
  if (silenced > 0) text += fmt::format("; {} silenced", silenced);
  if (report.units_without_peers > 0) text += fmt::format("; {} tests skipped: too few peers", report.units_without_peers);
  text += "\n";
  for (const fleet::Kind& kind : fleet::kinds()) {
    const auto count =
        std::count_if(report.findings.begin(), report.findings.end(), [&](const auto& one) { return one.kind == kind.id; });
    if (count > 0) text += fmt::format("  {:<22} {:>5}\n", kind.title, count);
  }
  for (const auto& job : report.stragglers)
    if (job.state != fleet::StragglerState::none) text += straggler_text(job);
  return text;
}

std::string fleet_health_text(const FleetReport& report, const std::string& node) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> nodes;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const fleet::Finding& finding = report.findings[i];
    if (!node.empty() && finding.node != node) continue;
    auto place = std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.first == finding.node; });
    if (place == nodes.end()) place = nodes.insert(nodes.end(), {finding.node, {}});
    place->second.push_back(i);
  }
  std::string text;
  for (const auto& [name, findings] : nodes) {
    text += report::printable(name) + "\n";
    for (const std::size_t i : findings) {
      const fleet::Finding* finding = &report.findings[i];
      const fleet::Kind& kind = fleet::kind_of(finding->kind);
      text += fmt::format("  {}{}, {}\n", kind.title, finding->device >= 0 ? fmt::format(" (device {})", finding->device) : "",
                          when_text(*finding));
      for (const fleet::Evidence& one : finding->evidence) text += "    " + evidence_text(one) + "\n";
      if (!report.silenced[i].empty()) text += fmt::format("    silenced: {}\n", report::printable(report.silenced[i]));
      text += fmt::format("    hint: {}\n", kind.hint);
    }
  }
  const auto healthy = report.extent.nodes - static_cast<std::int64_t>(nodes.size());
  if (node.empty()) return text + fmt::format("{} of {} nodes without findings\n", healthy, report.extent.nodes);
  return text.empty() ? fmt::format("{}: no findings\n", report::printable(node)) : text;
}

std::string fleet_outliers_text(const FleetReport& report) {
  if (report.findings.empty()) return fmt::format("no outliers in {} tests\n", report.tests);
  std::string text;
  for (const fleet::Finding& finding : report.findings)
    text += fmt::format("{:<22} {:<24} {:<36} {}\n", fleet::kind_of(finding.kind).title, unit_text(finding.node, finding.device),
                        when_text(finding), evidence_text(finding.evidence.front()));
  return text;
}

std::string fleet_stragglers_text(const FleetReport& report, bool all) {
  std::string text;
  std::int64_t without = 0;
  for (const auto& job : report.stragglers) {
    if (job.state == fleet::StragglerState::none) ++without;
    if (all || job.state != fleet::StragglerState::none) text += straggler_text(job);
  }
  if (report.stragglers.empty()) return "no job with two or more ranks\n";
  return text + fmt::format("{} of {} jobs without a straggler\n", without, report.stragglers.size());
}

std::string session_straggler_text(const workflows::SessionStraggler& straggler) {
  const auto& answer = straggler.answer;
  if (answer.cannot_tell) return fmt::format("cannot tell: {}\n", answer.reason);
  if (!answer.rank) return fmt::format("no straggler among {} ranks\n", answer.ranks);
  return fmt::format(
      "rank {} arrives last in {} of {} {} calls, median {} late, {} of the time observed; confidence {}\n"
      "  victims: {} other ranks; attribution method: shortest call of each collective (needs no common clock)\n"
      "  hint: compare the node, device and input of rank {} with those of the others; expected gain: up to {} of the time\n",
      *answer.rank, answer.last_count, answer.count, report::printable(answer.operation), core::format_duration(answer.late_ns),
      core::format_percent(answer.late_ratio), core::format_confidence(answer.confidence), answer.ranks - 1, *answer.rank,
      core::format_percent(answer.late_ratio));
}

std::string fleet_jobs_text(const FleetReport& report) {
  if (report.jobs.empty()) return "no jobs\n";
  std::string text = fmt::format("{:<20} {:>6} {:>6} {:>10} {:>9} {:>9} {:>9} {:>9} {:>12}\n", "job", "nodes", "ranks", "step",
                                 "goodput", "wait", "transfer", "host", "per step");
  for (const auto& job : report.jobs)
    text += fmt::format("{:<20} {:>6} {:>6} {:>10} {:>9} {:>9} {:>9} {:>9} {:>12}\n", report::printable(job.job), job.nodes,
                        job.ranks, or_dash(job.step_ns, core::format_duration), or_dash(job.goodput_ratio, core::format_percent),
                        or_dash(job.wait_ratio, core::format_percent), or_dash(job.transfer_ratio, core::format_percent),
                        or_dash(job.host_ratio, core::format_percent), or_dash(job.energy_per_step_j, joules));
  return text;
}

std::string fleet_comparison_text(const workflows::FleetComparison& comparison) {
  std::string text =
      fmt::format("A: {}; B: {}; {} to {} UTC\n{:<22} {:>6} {:>6} {:>14} {:>14} {:>12}  {}\n", report::printable(comparison.a),
                  report::printable(comparison.b), fleet_time(comparison.first_unix_ns), fleet_time(comparison.until_unix_ns),
                  "metric", "nodes", "nodes", "A", "B", "B - A", "95 % CI");
  for (const auto& one : comparison.metrics) {
    const auto shown = [&](double value) {
      return one.relative ? core::format_signed_percent(value) : fmt::format("{:+.3g}", value);
    };
    const std::string interval = one.low ? shown(*one.low) + " to " + shown(*one.high) + (one.differs() ? "" : " (inconclusive)")
                                         : "no CI (one node per side)";
    text += fmt::format("{:<22} {:>6} {:>6} {:>14.5g} {:>14.5g} {:>12}  {}\n", one.metric, one.nodes_a, one.nodes_b, one.mean_a,
                        one.mean_b, shown(one.difference), interval);
  }
  return text;
}

std::string fleet_score_text(const laboratory::fleet::Score& score) {
  std::string text = fmt::format("faults of 10 % and more: found {} of {}, right kind {}\n", score.strong.found,
                                 score.strong.count, score.strong.named);
  for (const auto& [name, tally] : score.by_kind) text += tally_line(name, tally);
  text += "by strength\n";
  for (const auto& [name, tally] : score.by_strength) text += tally_line(name, tally);
  text += fmt::format("false alarms: {} in {:.0f} node-days\n", score.false_alarms, score.node_days);
  text +=
      fmt::format("stragglers named: {} of {}; jobs of victims and healthy jobs without one: {} of {}; cannot tell: {} of {}\n",
                  score.stragglers.found, score.stragglers.count, score.victims.found, score.victims.count,
                  score.cannot_tell.found, score.cannot_tell.count);
  for (const std::string& one : score.missed) text += "  missed: " + one + "\n";
  for (const std::string& one : score.false_list) text += "  false alarm: " + one + "\n";
  return text;
}

}  // namespace aaco::cli
