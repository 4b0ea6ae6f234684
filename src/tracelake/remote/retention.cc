#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/clock.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/engine/schema.h"
#include "tracelake/remote.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kDayOfPartitionNs = 86'400 * kSecondNs;
constexpr std::string_view kTelemetryTables[] = {"rows_fleet_minutes", "rows_fleet_slots", "rows_fleet_hours",
                                                 "rows_fleet_pushes"};

// Partitions are days since 1970, whole ones only.
core::Result<std::set<std::int64_t>> drop_days(const RemoteServer& server, std::int64_t before_unix_ns) {
  std::set<std::int64_t> dropped;
  for (const std::string_view table : kTelemetryTables) {
    AACO_ASSIGN(
        const std::string reply,
        server.run(fmt::format("SELECT DISTINCT partition FROM system.parts WHERE database = {} AND table = '{}' AND active",
                               remote::text_literal(server.target().database), table)));
    for (const std::string_view line : core::split_lines(reply)) {
      const auto day = core::parse_i64(core::trim(line));
      if (!day || (*day + 1) * kDayOfPartitionNs > before_unix_ns) continue;
      AACO_TRY(server.run(fmt::format("ALTER TABLE {} DROP PARTITION {}", table, *day)));
      dropped.insert(*day);
    }
  }
  return dropped;
}

core::Result<std::vector<std::string>> lines_of(const RemoteServer& server, const std::string& sql) {
  AACO_ASSIGN(const std::string reply, server.run(sql));
  std::vector<std::string> out;
  for (const std::string_view line : core::split_lines(reply)) out.push_back(split_cells(line).front().value_or(""));
  return out;
}

// The list of pushes first: without it, no row of the session is seen.
core::Status delete_sessions(const RemoteServer& server, const std::vector<std::string>& tables, const std::string& list) {
  AACO_TRY(server.run(fmt::format("ALTER TABLE rows_pushes DELETE WHERE session_id IN ({})", list)));
  for (const std::string& table : tables)
    AACO_TRY(server.run(fmt::format("ALTER TABLE {} DELETE WHERE aaco_session IN ({})", remote::backticked(table), list)));
  return {};
}

}  // namespace

core::Result<ExpireOutcome> expire_remote(const RemoteServer& server, core::Nanoseconds keep) {
  ExpireOutcome out;
  // The engine's clock: that of one node may be wrong.
  AACO_ASSIGN(const std::string now, server.run("SELECT toUInt32(now())"));
  const std::int64_t before_unix_ns = core::parse_i64(core::trim(now)).value_or(0) * kSecondNs - keep.count();
  std::set<std::int64_t> days;
  // What is stored is removed where it is stored; replicas follow.
  AACO_ASSIGN(const auto places, server.one_per_shard());
  for (const RemoteServer& place : places) {
    AACO_ASSIGN(auto dropped, drop_days(place, before_unix_ns));
    days.merge(dropped);
  }
  out.days = static_cast<std::int64_t>(days.size());
  AACO_ASSIGN(const auto tables, lines_of(server, fmt::format("SELECT table FROM system.columns WHERE database = {} AND name = "
                                                              "'aaco_session' AND table LIKE 'rows\\\\_%' ORDER BY table",
                                                              remote::text_literal(server.target().database))));
  if (std::find(tables.begin(), tables.end(), "rows_sessions") == tables.end()) return out;
  AACO_ASSIGN(out.sessions,
              lines_of(server, fmt::format("SELECT DISTINCT session_id FROM sessions WHERE created < {} ORDER BY session_id",
                                           remote::text_literal(core::iso8601_utc(before_unix_ns)))));
  if (out.sessions.empty()) return out;
  std::string list;
  for (const std::string& id : out.sessions) list += (list.empty() ? "" : ", ") + remote::text_literal(id);
  for (const RemoteServer& place : places) AACO_TRY(delete_sessions(place, tables, list));
  return out;
}

}  // namespace aaco::tracelake
