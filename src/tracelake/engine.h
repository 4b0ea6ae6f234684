#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "core/result.h"
#include "tracelake/lake.h"

// The engine that stores the lake's tables for many nodes: ClickHouse over its HTTP interface. Nothing here needs DuckDB.
namespace aaco::tracelake {

struct RemoteTarget {
  std::string name;  // as the user named it
  std::string url;   // http://host:port
  std::string database = "aaco";
  std::string cluster;  // of Distributed tables; empty: one server
  // http://host:port of the servers of each shard of the cluster, in its order. Several servers: replicas of one another.
  std::vector<std::vector<std::string>> shards;
  [[nodiscard]] bool has_replicas() const;
  std::string user, password;
  std::string token;  // Authorization: Bearer, for a proxy in front of the engine
  std::int64_t timeout_ns = std::int64_t{60} * 1'000'000'000;
};

// clickhouse://HOST:PORT/DATABASE (HTTP), clickhouses://HOST:PORT/DATABASE (HTTPS) or the name of an entry in fleet.yaml
// (`files`: the first that exists counts). User, password and token come from AACO_CLICKHOUSE_USER, AACO_CLICKHOUSE_PASSWORD and
// AACO_CLICKHOUSE_TOKEN, or from the entry's user, password_file and token_file; a URL that has them is refused, as it shows up
// in process lists.
core::Result<RemoteTarget> find_remote(const std::string& name, const std::vector<std::string>& files,
                                       const core::Environment& environment);

// Of an error: the server could not be reached, or did not answer in time.
inline bool is_away(const core::Error& error) {
  return error.code == core::ErrorCode::io || error.code == core::ErrorCode::timed_out;
}

class RemoteServer {
 public:
  explicit RemoteServer(RemoteTarget target) : target_(std::move(target)) {}
  [[nodiscard]] const RemoteTarget& target() const { return target_; }
  // One statement; the answer as text. Fails with io or timed_out where the server cannot be reached.
  core::Result<std::string> run(const std::string& sql, const std::map<std::string, std::string>& settings = {}) const;
  // The same on every server of the cluster. A server that is away is left out if a replica of it answers.
  core::Status run_everywhere(const std::string& sql) const;
  // On one server of each shard, the first that answers: what replicas do by themselves.
  core::Status run_once_per_shard(const std::string& sql) const;
  // INSERT, in the format TabSeparated or that of the statement. Returns when the rows are stored on their shards.
  core::Status insert(const std::string& statement, std::string rows) const;
  // A user's SELECT, unchanged, read-only. Shards that are gone are left out; missing_shards() names them.
  core::Result<QueryResult> query(const std::string& sql) const;
  // Servers of shards none of which answers: gone, or hung, which takes three seconds to find out.
  [[nodiscard]] std::vector<std::string> missing_shards() const;
  // timed_out: the server, or one of its cluster, is hung. A query would wait for it for minutes, whatever its settings.
  [[nodiscard]] core::Status refuse_hung() const;
  // One server of each shard alone, the first that answers. io or timed_out: none of a shard's does.
  [[nodiscard]] core::Result<std::vector<RemoteServer>> one_per_shard() const;

 private:
  struct Absent {
    std::vector<std::string> gone, hung;
  };
  [[nodiscard]] Absent absent_shards() const;
  core::Result<std::string> post(const std::string& base, std::string body, const std::string& statement,
                                 const std::map<std::string, std::string>& settings) const;
  RemoteTarget target_;
};

// Creates what is missing, migrates an older schema, and refuses a database of a newer schema.
core::Status prepare_remote(const RemoteServer& server);
// Before reading: refuses a database of a newer schema, and a hung server of the cluster or alone.
core::Status check_remote(const RemoteServer& server);

// Creates the table of telemetry (docs/formats/fleet.md) where it is missing, and rows_fleet_pushes beside it. Rows that an agent
// sends again are stored again; every answer counts a node, device, group and minute once.
core::Status prepare_fleet_minutes(const RemoteServer& server);
// "INSERT INTO ... (columns)" for RemoteServer::insert.
std::string fleet_minutes_insert(const RemoteTarget& target, const std::vector<std::string>& columns);

// "minute_unix_ns", ... of a row of telemetry, and their types in SQL.
std::vector<std::pair<std::string, std::string>> fleet_row_columns();

// The cells of a row in ClickHouse's TabSeparated format, and back.
void append_cell(std::string& out, const std::optional<std::string>& cell);
std::vector<std::optional<std::string>> split_cells(std::string_view line);

}  // namespace aaco::tracelake
