#include "workflows/fleet_sessions.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/json.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "core/time_text.h"
#include "trace/outcome.h"
#include "tracelake/engine.h"
#include "workflows/push.h"

namespace aaco::workflows {
namespace {

using Cells = std::vector<std::optional<std::string>>;

constexpr std::string_view kManifestColumns = "session_id, kind, tag, state, fingerprint, created, outcome, request";

std::string quoted(const std::string& text) {
  return "'" + core::replace_all(core::replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

trace::SessionManifest manifest_of(const Cells& row) {
  trace::SessionManifest manifest;
  manifest.id.text = row[0].value_or("");
  manifest.kind = row[1].value_or("");
  manifest.tag = row[2].value_or("");
  manifest.state = row[3].value_or("");
  manifest.fingerprint = row[4].value_or("");
  manifest.created_realtime_ns = core::parse_time_text(row[5].value_or("")).value_or(0);
  if (auto outcome = core::Json::parse(row[6].value_or(""))) manifest.outcome = trace::outcome_from_json(*outcome);
  if (auto request = core::Json::parse(row[7].value_or(""))) manifest.request = *std::move(request);
  return manifest;
}

}  // namespace

core::Result<std::vector<FleetSession>> fleet_sessions(const std::string& fleet, const std::string& metric,
                                                       std::vector<std::string>& missing, const Services& services) {
  AACO_ASSIGN(const auto server, find_fleet(fleet, services));
  AACO_TRY(tracelake::check_remote(server));
  AACO_ASSIGN(const auto sessions,
              server.query(fmt::format("SELECT {} FROM sessions ORDER BY created, session_id", kManifestColumns)));
  tracelake::QueryResult values;
  if (!metric.empty()) {
    AACO_ASSIGN(values, server.query("SELECT session_id, value, unit, device FROM metrics WHERE metric = " + quoted(metric) +
                                     " ORDER BY session_id, device"));
  }
  missing = server.missing_shards();
  // Of a metric that several devices have, that of the session as a whole counts, else that of the first device.
  std::map<std::string, std::pair<double, std::string>> first;
  for (const bool whole : {true, false})
    for (const Cells& row : values.rows) {
      const auto value = row[1] ? core::parse_f64(*row[1]) : std::nullopt;
      if (value && row[3].has_value() != whole) first.try_emplace(row[0].value_or(""), *value, row[2].value_or(""));
    }
  std::vector<FleetSession> out;
  for (const Cells& row : sessions.rows) {
    FleetSession one{manifest_of(row), {}, {}};
    if (const auto found = first.find(one.manifest.id.text); found != first.end()) {
      one.value = found->second.first;
      one.unit = found->second.second;
    }
    out.push_back(std::move(one));
  }
  return out;
}

core::Result<std::vector<trace::SessionManifest>> fleet_sessions_of_host(const std::string& fleet, const std::string& host,
                                                                         std::int64_t limit, const Services& services) {
  AACO_ASSIGN(const auto server, find_fleet(fleet, services));
  AACO_TRY(tracelake::check_remote(server));
  std::vector<trace::SessionManifest> out;
  AACO_ASSIGN(const std::string there, server.run("EXISTS TABLE environment"));
  if (core::trim(there) != "1") return out;
  AACO_ASSIGN(
      const auto sessions,
      server.query(fmt::format("SELECT {} FROM sessions WHERE session_id IN (SELECT session_id FROM environment WHERE name = "
                               "'os.host' AND value = {}) ORDER BY created DESC, session_id LIMIT {}",
                               kManifestColumns, quoted(host), limit)));
  for (const Cells& row : sessions.rows) out.push_back(manifest_of(row));
  return out;
}

}  // namespace aaco::workflows
