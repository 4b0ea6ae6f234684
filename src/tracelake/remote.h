#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "tracelake/engine.h"
#include "tracelake/fleet.h"
#include "tracelake/lake.h"

// The lake's tables in ClickHouse (docs/formats/clickhouse.md). A session is visible there only when all its tables are
// complete, and once, however often and by however many processes it was pushed.
namespace aaco::tracelake {

struct PushOutcome {
  std::string session_id;
  bool already_there = false;
  std::int64_t tables = 0, rows = 0;
  std::int64_t resumed_tables = 0;  // sent by an earlier push that was interrupted
  std::string no_archive;           // why the packed bundle was not sent; empty: it was
};
// Packs the session's bundle into the file named.
using PackBundle = std::function<core::Status(const std::string& file)>;
// Sends a whole session: its tables and its packed bundle. `state_file` keeps which of them were sent, so that an interrupted
// push continues; it is removed at the end. Concurrent pushes of one session are safe. A session that an older version pushed
// gets its bundle. A bundle that cannot be packed because it was modified is left out, and its tables are sent.
core::Result<PushOutcome> push_session(const RemoteServer& server, Lake& lake, const std::string& session_id,
                                       const PackBundle& pack, const std::string& state_file);
// Writes the packed bundle of a session to `file`. Fails with not_found where the engine has none, with io where a server that
// may have it cannot be reached.
core::Status fetch_archive(const RemoteServer& server, const std::string& session_id, const std::string& file);

struct ExpireOutcome {
  std::int64_t days = 0;              // of telemetry, dropped whole
  std::vector<std::string> sessions;  // deleted
};
// Retention: removes days of telemetry that ended more than `keep` ago by the engine's clock, and sessions created before. All
// servers of the cluster must be there; what was removed before a failure stays removed.
core::Result<ExpireOutcome> expire_remote(const RemoteServer& server, core::Nanoseconds keep);

struct FleetPush {
  std::int64_t rows_sent = 0;
  std::int64_t rows_there = 0;  // sent before from the same files
};
// Telemetry of a fleet: files -> the engine, chunk by chunk. What an earlier push of the same files sent is not sent again, so
// that an interrupted push continues. `progress` gets the number of rows done so far; its error ends the push.
core::Result<FleetPush> push_fleet_minutes(const RemoteServer& server, const std::string& path,
                                           const std::function<core::Status(std::int64_t)>& progress);
core::Result<std::unique_ptr<FleetSource>> open_remote_fleet(RemoteServer server);

}  // namespace aaco::tracelake
