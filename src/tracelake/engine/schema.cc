#include "tracelake/engine/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::tracelake {
namespace remote {
namespace {

constexpr std::int64_t kRemoteSchemaVersion = 2;

std::string column_list(const std::vector<RemoteColumn>& columns, bool types) {
  std::string out;
  for (const RemoteColumn& column : columns)
    out += (out.empty() ? "" : ", ") + backticked(column.name) + (types ? " " + column.type : "");
  return out;
}

std::string distributed(const RemoteTarget& target, const std::string& table, std::string_view key) {
  return fmt::format("CREATE TABLE IF NOT EXISTS {} AS {} ENGINE = Distributed({}, {}, {}, sipHash64({}))",
                     backticked("all_" + table), backticked(stored_name(table)), target.cluster, target.database,
                     stored_name(table), key);
}

}  // namespace

std::string remote_type(const std::string& lake_type) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"TINYINT", "Int8"},   {"SMALLINT", "Int16"},   {"INTEGER", "Int32"},   {"BIGINT", "Int64"},
      {"UTINYINT", "UInt8"}, {"USMALLINT", "UInt16"}, {"UINTEGER", "UInt32"}, {"UBIGINT", "UInt64"},
      {"FLOAT", "Float32"},  {"DOUBLE", "Float64"},   {"DATE", "Date"},       {"BOOLEAN", "UInt8"}};
  for (const auto& [ours, theirs] : kTypes)
    if (lake_type == ours) return fmt::format("Nullable({})", theirs);
  return "Nullable(String)";
}

std::string stored_name(const std::string& table) { return "rows_" + table; }
std::string whole_name(const RemoteTarget& target, const std::string& table) {
  return (target.cluster.empty() ? "rows_" : "all_") + table;
}

std::string engine_of(const RemoteTarget& target, std::string_view kind, const std::string& table) {
  if (!target.has_replicas()) return std::string(kind);
  return fmt::format("Replicated{}('/clickhouse/tables/{{shard}}/{}/{}', '{{replica}}')", kind, target.database, table);
}

core::Status show_whole(const RemoteServer& server, const std::string& table, std::string_view key) {
  const RemoteTarget& target = server.target();
  if (!target.cluster.empty()) AACO_TRY(server.run(distributed(target, table, key)));
  AACO_TRY(server.run(fmt::format("CREATE VIEW IF NOT EXISTS {} AS SELECT * FROM {}.{}", backticked(table), target.database,
                                  backticked(whole_name(target, table)))));
  return {};
}

std::string backticked(std::string_view name) {
  return "`" + core::replace_all(core::replace_all(std::string(name), "\\", "\\\\"), "`", "\\`") + "`";
}

std::string text_literal(std::string_view text) {
  return "'" + core::replace_all(core::replace_all(std::string(text), "\\", "\\\\"), "'", "\\'") + "'";
}

core::Status RemoteSchema::read() {
  AACO_ASSIGN(const std::string reply,
              server_.run(fmt::format("SELECT table, name FROM system.columns WHERE database = {} ORDER BY table",
                                      text_literal(server_.target().database))));
  there_.clear();
  for (const std::string_view line : core::split_lines(reply)) {
    const auto cells = split_cells(line);
    if (cells.size() == 2) there_[*cells[0]].insert(*cells[1]);
  }
  return {};
}

core::Status RemoteSchema::ensure(const std::string& table, const std::vector<RemoteColumn>& columns) {
  const auto stored = there_.find(stored_name(table));
  if (stored == there_.end() || !there_.contains(table)) {
    AACO_TRY(create(table, columns));
  } else {
    std::vector<RemoteColumn> missing;
    for (const RemoteColumn& column : columns)
      if (!stored->second.contains(column.name)) missing.push_back(column);
    if (missing.empty()) return {};
    AACO_TRY(extend(table, missing, columns));
  }
  auto& names = there_[stored_name(table)];
  for (const RemoteColumn& column : columns) names.insert(column.name);
  there_[table];
  return {};
}

core::Status RemoteSchema::create(const std::string& table, const std::vector<RemoteColumn>& columns) {
  const RemoteTarget& target = server_.target();
  AACO_TRY(server_.run_everywhere(fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (aaco_session String, aaco_part String, {}) ENGINE = {} "
      "ORDER BY (aaco_session, aaco_part)",
      backticked(stored_name(table)), column_list(columns, true), engine_of(target, "MergeTree", stored_name(table)))));
  if (!target.cluster.empty()) AACO_TRY(server_.run(distributed(target, table, "aaco_session")));
  return make_view(table, columns);
}

core::Status RemoteSchema::extend(const std::string& table, const std::vector<RemoteColumn>& missing,
                                  const std::vector<RemoteColumn>& columns) {
  for (const RemoteColumn& column : missing)
    AACO_TRY(server_.run_once_per_shard(
        fmt::format("ALTER TABLE {} ADD COLUMN {} {}", backticked(stored_name(table)), backticked(column.name), column.type)));
  if (!server_.target().cluster.empty()) {
    AACO_TRY(server_.run("DROP TABLE IF EXISTS " + backticked("all_" + table)));
    AACO_TRY(server_.run(distributed(server_.target(), table, "aaco_session")));
  }
  std::vector<RemoteColumn> all = columns;  // columns that this version no longer has stay visible
  for (const std::string& name : there_[stored_name(table)])
    if (name != "aaco_session" && name != "aaco_part" &&
        std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.name == name; }))
      all.push_back({name, ""});
  AACO_TRY(server_.run("DROP TABLE IF EXISTS " + backticked(table)));
  return make_view(table, all);
}

// One part per session, of its first complete push: whatever is sent twice, at the same time or cut half way is not seen.
// Processes that share a lake continue the same push, so one push may have several complete parts of a table.
core::Status RemoteSchema::make_view(const std::string& table, const std::vector<RemoteColumn>& columns) {
  const RemoteTarget& target = server_.target();
  const std::string in = target.cluster.empty() ? "IN" : "GLOBAL IN";
  const std::string pushes = target.database + "." + whole_name(target, "pushes");
  AACO_TRY(server_.run(fmt::format(
      "CREATE VIEW IF NOT EXISTS {} AS SELECT {} FROM {}.{} WHERE aaco_part {} (SELECT min(part_id) FROM {} WHERE "
      "table_name = {} AND (session_id, push_id) {} (SELECT session_id, min(push_id) FROM {} GROUP BY session_id) GROUP BY "
      "session_id)",
      backticked(table), column_list(columns, false), target.database, backticked(whole_name(target, table)), in, pushes,
      text_literal(table), in, pushes)));
  return {};
}

core::Status RemoteSchema::renew_views() {
  for (const auto& [stored, names] : there_) {
    if (!stored.starts_with("rows_") || !names.contains("aaco_part")) continue;
    const std::string table = stored.substr(std::string_view("rows_").size());
    std::vector<RemoteColumn> columns;
    for (const std::string& name : names)
      if (name != "aaco_session" && name != "aaco_part") columns.push_back({name, ""});
    AACO_TRY(server_.run("DROP TABLE IF EXISTS " + backticked(table)));
    AACO_TRY(make_view(table, columns));
  }
  return {};
}

namespace {

// 0: a database without tables of this program.
core::Result<std::int64_t> schema_version(const RemoteServer& server) {
  AACO_ASSIGN(const std::string reply, server.run("SELECT max(version) FROM aaco_schema"));
  return core::parse_i64(core::trim(reply)).value_or(0);
}

core::Status refuse_newer(const RemoteServer& server, std::int64_t version) {
  if (version <= kRemoteSchemaVersion) return {};
  return core::fail(core::ErrorCode::unsupported,
                    fmt::format("the database {} has schema version {}, this program knows {}", server.target().database, version,
                                kRemoteSchemaVersion),
                    "use the newer version of aaco");
}

}  // namespace
}  // namespace remote

core::Status check_remote(const RemoteServer& server) {
  AACO_TRY(server.refuse_hung());
  const auto version = remote::schema_version(server);
  if (version) return remote::refuse_newer(server, *version);
  if (version.error().code == core::ErrorCode::invalid_argument) return {};  // no such table: not one of this program's databases
  return tl::unexpected<core::Error>(version.error());
}

core::Status prepare_remote(const RemoteServer& server) {
  const RemoteTarget& target = server.target();
  AACO_TRY(server.run_everywhere("CREATE DATABASE IF NOT EXISTS " + target.database));
  AACO_TRY(server.run_everywhere("CREATE TABLE IF NOT EXISTS aaco_schema (version Int64) ENGINE = MergeTree ORDER BY version"));
  AACO_ASSIGN(const std::int64_t version, remote::schema_version(server));
  AACO_TRY(remote::refuse_newer(server, version));
  AACO_TRY(server.run_everywhere(
      fmt::format("CREATE TABLE IF NOT EXISTS rows_pushes (session_id String, push_id String, table_name String, part_id String, "
                  "row_count Int64, tool_version String) ENGINE = {} ORDER BY (session_id, push_id)",
                  remote::engine_of(target, "MergeTree", "rows_pushes"))));
  if (!target.cluster.empty()) AACO_TRY(server.run(remote::distributed(target, "pushes", "session_id")));
  if (version > 0 && version < remote::kRemoteSchemaVersion) {
    remote::RemoteSchema schema(server);
    AACO_TRY(schema.read());
    AACO_TRY(schema.renew_views());
  }
  if (version < remote::kRemoteSchemaVersion)
    AACO_TRY(server.insert("INSERT INTO aaco_schema (version)", fmt::format("{}\n", remote::kRemoteSchemaVersion)));
  return {};
}

}  // namespace aaco::tracelake
