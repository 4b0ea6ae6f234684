#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "tracelake/fleet.h"
#include "tracelake/lake.h"

// The lake's tables in ClickHouse (docs/formats/clickhouse.md). A session is visible there only when all its tables are
// complete, and once, however often and by however many processes it was pushed.
namespace aaco::tracelake {

struct RemoteTarget {
  std::string name;  // as the user named it
  std::string url;   // http://host:port
  std::string database = "aaco";
  std::string cluster;              // of Distributed tables; empty: one server
  std::vector<std::string> shards;  // http://host:port of each server of the cluster
  std::string user, password;
  std::int64_t timeout_ns = std::int64_t{60} * 1'000'000'000;
};

// clickhouse://HOST:PORT/DATABASE or the name of an entry in fleet.yaml (`files`: the first that exists counts). User and
// password come from AACO_CLICKHOUSE_USER and AACO_CLICKHOUSE_PASSWORD, or from the entry's user and password_file; a URL that
// has them is refused, as it shows up in process lists.
core::Result<RemoteTarget> find_remote(const std::string& name, const std::vector<std::string>& files,
                                       const core::Environment& environment);

class RemoteServer {
 public:
  explicit RemoteServer(RemoteTarget target) : target_(std::move(target)) {}
  [[nodiscard]] const RemoteTarget& target() const { return target_; }
  // One statement; the answer as text. Fails with io or timed_out where the server cannot be reached.
  core::Result<std::string> run(const std::string& sql, const std::map<std::string, std::string>& settings = {}) const;
  // The same on every server of the cluster.
  core::Status run_everywhere(const std::string& sql) const;
  // INSERT ... FORMAT TabSeparated. Returns when the rows are stored on their shards.
  core::Status insert(const std::string& statement, std::string rows) const;
  // A user's SELECT, unchanged, read-only. Shards that cannot be reached are left out and counted.
  core::Result<QueryResult> query(const std::string& sql) const;
  // Servers of the cluster that cannot be reached.
  [[nodiscard]] std::vector<std::string> missing_shards() const;

 private:
  core::Result<std::string> post(const std::string& base, const std::string& body, const std::string& statement,
                                 const std::map<std::string, std::string>& settings) const;
  RemoteTarget target_;
};

struct PushOutcome {
  std::string session_id;
  bool already_there = false;
  std::int64_t tables = 0, rows = 0;
  std::int64_t resumed_tables = 0;  // sent by an earlier push that was interrupted
};
// Sends a whole session. `state_file` keeps which tables were sent, so that an interrupted push continues; it is removed at the
// end. Concurrent pushes of one session are safe.
core::Result<PushOutcome> push_session(const RemoteServer& server, Lake& lake, const std::string& session_id,
                                       const std::string& state_file);

// Creates what is missing, and refuses a database of a newer schema.
core::Status prepare_remote(const RemoteServer& server);

// Telemetry of a fleet: files -> the engine, and reading it there.
core::Result<std::int64_t> push_fleet_minutes(const RemoteServer& server, const std::string& path,
                                              const std::function<core::Status(std::int64_t)>& progress);
core::Result<std::unique_ptr<FleetSource>> open_remote_fleet(RemoteServer server);

// The cells of a row in ClickHouse's TabSeparated format, and back.
void append_cell(std::string& out, const std::optional<std::string>& cell);
std::vector<std::optional<std::string>> split_cells(std::string_view line);

}  // namespace aaco::tracelake
