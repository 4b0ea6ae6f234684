#include <algorithm>
#include <set>

#include "core/files.h"
#include "workflows/fleet.h"
#include "workflows/push.h"

namespace aaco::workflows {
namespace {

namespace fleet = analytics::fleet;

constexpr std::int64_t kFleetMinuteNs = 60'000'000'000;
constexpr std::int64_t kMaxBins = 20'000;

// A file or folder, else an engine.
core::Result<std::unique_ptr<tracelake::FleetSource>> open_source(const std::string& from, const Services& services) {
  if (from.find("://") == std::string::npos && core::exists(from)) return tracelake::open_fleet_files(from);
  auto server = find_fleet(from, services);
  if (server) return tracelake::open_remote_fleet(std::move(*server));
  if (from.find("://") != std::string::npos || server.error().code != core::ErrorCode::not_found)
    return tl::unexpected<core::Error>(std::move(server).error());
  return core::fail(core::ErrorCode::not_found, "'" + from + "' is not a file, a folder or a fleet of fleet.yaml",
                    "see docs/how_to/watch_a_fleet.md");
}

core::Status check_request(const FleetRequest& request, const tracelake::FleetExtent& extent) {
  if (extent.rows == 0)
    return core::fail(core::ErrorCode::not_found, "no telemetry in " + request.from, "see docs/how_to/watch_a_fleet.md");
  if (request.bin_ns < kFleetMinuteNs || request.bin_ns % kFleetMinuteNs != 0)
    return core::fail(core::ErrorCode::invalid_argument, "the bin must be a whole number of minutes");
  return {};
}

void count_rows(const fleet::Presence& presence, FleetReport& report) {
  report.nodes = presence.nodes;
  std::sort(report.nodes.begin(), report.nodes.end());
  for (std::size_t node = 0; node < presence.nodes.size(); ++node)
    for (std::size_t bin = 0; bin < presence.rows[node].size(); ++bin) {
      report.duplicates += presence.rows[node][bin] - presence.distinct[node][bin];
      report.late += presence.late[node][bin];
    }
}

}  // namespace

core::Result<FleetReport> analyse_fleet(const FleetRequest& request, const Services& services) {
  AACO_ASSIGN(const auto source, open_source(request.from, services));
  FleetReport report;
  report.from = request.from;
  services.progress("counting rows");
  AACO_ASSIGN(report.extent, source->extent());
  AACO_TRY(check_request(request, report.extent));
  const std::int64_t bin = request.bin_ns;
  std::int64_t first = report.extent.first_unix_ns;
  if (request.last_ns) first = std::max(first, report.extent.last_unix_ns - *request.last_ns);
  first = first / bin * bin;
  const std::int64_t bins = (report.extent.last_unix_ns - first) / bin + 1;
  if (bins > kMaxBins)
    return core::fail(core::ErrorCode::exhausted, "the telemetry spans more than " + std::to_string(kMaxBins) + " bins",
                      "pass --last or a longer --bin");
  report.first_unix_ns = first;
  report.until_unix_ns = first + bins * bin;
  report.bin_ns = bin;
  fleet::Tests tests;
  fleet::Presence presence;
  trace::FleetCells gpu;
  for (const trace::FleetGroup group : trace::kFleetGroups) {
    services.progress("comparing " + std::string(trace::kFleetGroupNames[static_cast<std::size_t>(group)]) +
                      " metrics with peers");
    AACO_ASSIGN(auto cells, source->cells(group, first, static_cast<std::int32_t>(bins), bin));
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
  fleet::test_presence(presence, tests);
  count_rows(presence, report);
  report.tests = static_cast<std::int64_t>(tests.tests.size());
  report.units_without_peers = tests.units_without_peers;
  report.findings = fleet::findings(std::move(tests));
  services.progress("");
  return report;
}

}  // namespace aaco::workflows
