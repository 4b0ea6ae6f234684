#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/session.h"
#include "workflows/services.h"

namespace aaco::workflows {

// A session in a fleet's engine, as far as its table of sessions describes it, with one metric.
struct FleetSession {
  trace::SessionManifest manifest;  // no phases, clocks and hashes
  std::optional<double> value;
  std::string unit;
};

// All sessions of a fleet (clickhouse://... or a name in fleet.yaml), oldest first, with the value of `metric` (empty: none).
// Servers that cannot be reached are in `missing`.
core::Result<std::vector<FleetSession>> fleet_sessions(const std::string& fleet, const std::string& metric,
                                                       std::vector<std::string>& missing, const Services& services);

// Those that ran on the host of this name, newest first, at most `limit`. None where no push brought environments yet.
core::Result<std::vector<trace::SessionManifest>> fleet_sessions_of_host(const std::string& fleet, const std::string& host,
                                                                         std::int64_t limit, const Services& services);

}  // namespace aaco::workflows
