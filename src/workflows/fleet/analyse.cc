#include <algorithm>

#include "core/files.h"
#include "governance/silences.h"
#include "workflows/fleet.h"
#include "workflows/fleet/source.h"

namespace aaco::workflows {
namespace {

namespace fleet = analytics::fleet;

void count_rows(const fleet::Presence& presence, FleetReport& report) {
  report.nodes = presence.nodes;
  std::sort(report.nodes.begin(), report.nodes.end());
  for (std::size_t node = 0; node < presence.nodes.size(); ++node)
    for (std::size_t bin = 0; bin < presence.rows[node].size(); ++bin) {
      report.duplicates += presence.rows[node][bin] - presence.distinct[node][bin];
      report.late += presence.late[node][bin];
    }
}

core::Result<std::vector<governance::Silence>> silences_of(const FleetRequest& request, const Services& services) {
  std::string file = request.silences;
  if (file.empty()) {
    file = core::join_path(services.paths.config, "silences.yaml");
    if (!core::exists(file)) return std::vector<governance::Silence>();
  }
  AACO_ASSIGN(const std::string text, core::read_file(file, 1 << 24));
  return governance::parse_silences(text, file);
}

void silence(const std::vector<governance::Silence>& silences, FleetReport& report) {
  for (const fleet::Finding& one : report.findings) {
    const auto* found =
        governance::find_silence(silences, {one.node, one.kind, one.job, one.device, one.since_unix_ns, one.until_unix_ns});
    report.silenced.push_back(found == nullptr ? "" : (found->maintenance ? "maintenance: " : "") + found->reason);
  }
}

}  // namespace

core::Result<FleetReport> analyse_fleet(const FleetRequest& request, const Services& services) {
  AACO_ASSIGN(const auto silences, silences_of(request, services));
  AACO_ASSIGN(const auto source, open_fleet_source(request.from, services));
  FleetReport report;
  report.from = request.from;
  services.progress("counting rows");
  AACO_ASSIGN(report.extent, source->extent());
  AACO_ASSIGN(const FleetBins bins, fleet_bins(request, report.extent));
  report.first_unix_ns = bins.first_unix_ns;
  report.until_unix_ns = bins.until_unix_ns();
  report.bin_ns = bins.bin_ns;
  fleet::Tests tests;
  fleet::Presence presence;
  trace::FleetCells gpu;
  for (const trace::FleetGroup group : trace::kFleetGroups) {
    services.progress("comparing " + std::string(trace::kFleetGroupNames[static_cast<std::size_t>(group)]) +
                      " metrics with peers");
    AACO_ASSIGN(auto cells, source->cells(group, bins.first_unix_ns, bins.count, bins.bin_ns));
    presence.add(cells);
    fleet::test_group(cells, group, tests);
    if (group == trace::FleetGroup::gpu) {
      report.devices = static_cast<std::int64_t>(cells.units.size());
      gpu = std::move(cells);
    } else if (group == trace::FleetGroup::work) {
      report.stragglers = fleet::stragglers(cells);
      report.jobs = fleet::job_summaries(cells, gpu);
      gpu = {};
    }
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "stopped");
  }
  report.missing_servers = source->missing();  // last: a server lost during the analysis counts
  fleet::test_presence(presence, tests);
  count_rows(presence, report);
  report.tests = static_cast<std::int64_t>(tests.tests.size());
  report.units_without_peers = tests.units_without_peers;
  report.findings = fleet::findings(std::move(tests));
  silence(silences, report);
  services.progress("");
  return report;
}

}  // namespace aaco::workflows
