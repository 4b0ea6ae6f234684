#include <fmt/format.h>

#include "core/strings.h"
#include "trace/fleet.h"
#include "tracelake/engine.h"
#include "tracelake/engine/schema.h"
#include "tracelake/engine/slots.h"

namespace aaco::tracelake {
namespace {

constexpr std::string_view kMinutesTable = "fleet_minutes";
constexpr std::int64_t kDayOfMinutesNs = std::int64_t{24 * 60} * 60'000'000'000;

// Keys are never NULL there: ORDER BY does not take NULL.
std::string minutes_columns() {
  std::string out;
  for (const auto& [name, type] : fleet_row_columns()) {
    const bool key = name == "minute_unix_ns" || name == "node" || name == "metric_group";
    out += (out.empty() ? "" : ", ") + name + " " + (key ? (type == "BIGINT" ? "Int64" : "String") : remote::remote_type(type));
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> fleet_row_columns() {
  std::vector<std::pair<std::string, std::string>> out = {
      {"minute_unix_ns", "BIGINT"}, {"received_unix_ns", "BIGINT"}, {"node", "VARCHAR"}, {"device", "BIGINT"},
      {"metric_group", "VARCHAR"},  {"hardware", "VARCHAR"},        {"job", "VARCHAR"},  {"rank", "BIGINT"}};
  for (const trace::FleetColumn& column : trace::kFleetColumns) out.emplace_back(column.name, "DOUBLE");
  return out;
}

core::Status prepare_fleet_minutes(const RemoteServer& server) {
  const RemoteTarget& target = server.target();
  AACO_TRY(prepare_remote(server));
  AACO_TRY(server.run_everywhere(
      fmt::format("CREATE TABLE IF NOT EXISTS rows_{} ({}) ENGINE = {} PARTITION BY intDiv(minute_unix_ns, {}) ORDER BY "
                  "(metric_group, node, minute_unix_ns)",
                  kMinutesTable, minutes_columns(), remote::engine_of(target, "MergeTree", fmt::format("rows_{}", kMinutesTable)),
                  kDayOfMinutesNs)));
  // Which chunks of which files were sent; a day of them goes with the day of the rows.
  AACO_TRY(server.run_everywhere(
      fmt::format("CREATE TABLE IF NOT EXISTS rows_fleet_pushes (push String, minute_unix_ns Int64, row_count Int64) ENGINE = {} "
                  "PARTITION BY intDiv(minute_unix_ns, {}) ORDER BY (push, minute_unix_ns)",
                  remote::engine_of(target, "MergeTree", "rows_fleet_pushes"), kDayOfMinutesNs)));
  AACO_TRY(remote::show_whole(server, std::string(kMinutesTable), "node"));
  return prepare_fleet_slots(server);
}

std::string fleet_minutes_insert(const RemoteTarget& target, const std::vector<std::string>& columns) {
  return fmt::format("INSERT INTO {} ({})", remote::whole_name(target, std::string(kMinutesTable)), core::join(columns, ", "));
}

}  // namespace aaco::tracelake
