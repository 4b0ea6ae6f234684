#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/fleet.h"
#include "analytics/rank_waits.h"
#include "core/json.h"
#include "core/result.h"
#include "laboratory/fleet.h"
#include "tracelake/fleet.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct FleetRequest {
  std::string from;  // file or folder of telemetry, clickhouse://..., or a name in fleet.yaml
  std::int64_t bin_ns = std::int64_t{30} * 60 * 1'000'000'000;
  std::optional<std::int64_t> last_ns;  // only the end of the data
  std::string silences;                 // file (docs/formats/silences.md); empty: silences.yaml of the user, if it exists
};

struct FleetReport {
  std::string from;
  tracelake::FleetExtent extent;
  std::int64_t first_unix_ns = 0, until_unix_ns = 0, bin_ns = 0;  // analysed
  std::int64_t devices = 0, duplicates = 0, late = 0;
  std::int64_t tests = 0, units_without_peers = 0;
  std::vector<std::string> nodes;
  std::vector<std::string> missing_servers;  // of the engine: their rows are not in the answers
  std::vector<analytics::fleet::Finding> findings;
  std::vector<std::string> silenced;  // per finding: the reason; empty: not silenced
  std::vector<analytics::fleet::JobStraggler> stragglers;
  std::vector<analytics::fleet::JobSummary> jobs;
};
core::Result<FleetReport> analyse_fleet(const FleetRequest& request, const Services& services);

// Documents of docs/formats/fleet.md.
core::Json fleet_status_json(const FleetReport& report);
core::Json fleet_findings_json(const FleetReport& report, const std::string& node);  // empty: all nodes
core::Json fleet_stragglers_json(const FleetReport& report);
core::Json fleet_jobs_json(const FleetReport& report);

// The late rank of a session of several ranks (an imported trace). Empty if `name` is not a session.
struct SessionStraggler {
  std::string session_id;
  analytics::fleet::LateRank answer;
};
core::Result<std::optional<SessionStraggler>> session_straggler(const std::string& name, const Services& services);
core::Json to_json(const SessionStraggler& straggler);

struct LabFleetRequest {
  laboratory::fleet::Request fleet;
  std::string folder;
};
struct LabFleetOutcome {
  std::string folder;
  std::int64_t rows = 0, faults = 0;
};
// Simulated telemetry in <folder>/minutes and <folder>/truth.json.
core::Result<LabFleetOutcome> lab_fleet(const LabFleetRequest& request, const Services& services);
// What the analysis says about a folder with a truth.json.
core::Result<laboratory::fleet::Score> lab_fleet_score(const std::string& folder, const Services& services);
core::Json to_json(const laboratory::fleet::Score& score);

}  // namespace aaco::workflows
