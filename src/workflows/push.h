#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "tracelake/remote.h"
#include "workflows/query.h"
#include "workflows/services.h"

namespace aaco::workflows {

struct PushRequest {
  std::vector<std::string> sessions;       // ids, paths, latest, tag:NAME
  bool all = false;                        // every complete session
  std::string telemetry;                   // folder of fleet telemetry; empty: none
  std::string to;                          // clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml
  std::optional<core::Nanoseconds> keep;   // then delete what is older from the fleet
  std::optional<core::Nanoseconds> watch;  // look for new sessions at this interval until stopped
};
struct PushFailure {
  std::string session_id;
  core::Error error;
};
struct PushReport {
  std::string to;
  std::vector<tracelake::PushOutcome> pushed;
  std::vector<PushFailure> failed;  // they remain in the lake, and the next push continues them
  tracelake::FleetPush telemetry;
  tracelake::ExpireOutcome expired;  // for PushRequest::keep
};
core::Result<PushReport> push(const PushRequest& request, const Services& services);
core::Json to_json(const PushReport& report);

core::Result<tracelake::RemoteServer> find_fleet(const std::string& name, const Services& services);

struct RemoteRows {
  std::string text;                  // formatted as `query` does
  std::vector<std::string> missing;  // servers that could not be reached: their rows are not in the answer
};
core::Result<RemoteRows> query_fleet(const QueryRequest& request, const std::string& on, const Services& services);

}  // namespace aaco::workflows
