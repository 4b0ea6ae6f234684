#include "workflows/push.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/clock.h"
#include "core/files.h"
#include "core/hash.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

std::vector<std::string> fleet_files(const Services& services) {
  if (const auto file = services.environment.get("AACO_FLEET")) return {*file};
  return {core::join_path(services.paths.config, "fleet.yaml"), core::join_path(services.paths.share, "configs/fleet.yaml")};
}

core::Result<std::vector<std::string>> wanted_sessions(const PushRequest& request, const Services& services) {
  std::vector<std::string> ids;
  if (request.all || request.watch) {
    AACO_ASSIGN(const auto entries, tracelake::list_session_heads(services.paths.sessions));
    // What would be deleted again is not sent.
    const std::int64_t now = core::SystemClock().now_ns(core::ClockId::realtime);
    const auto is_kept = [&](std::int64_t created_ns) { return !request.keep || created_ns >= now - request.keep->count(); };
    for (const auto& entry : entries)
      if (entry.manifest.whole() && is_kept(entry.manifest.created_realtime_ns)) ids.push_back(entry.manifest.id.text);
  }
  for (const std::string& name : request.sessions) {
    AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, name));
    AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
    if (!manifest.whole())
      return core::fail(core::ErrorCode::invalid_argument, "session " + manifest.id.text + " is " + manifest.state,
                        "push it when it is complete");
    ids.push_back(manifest.id.text);
  }
  return ids;
}

// One round over the sessions. A server that is away ends it: the others would fail as well.
core::Status push_round(const std::vector<std::string>& ids, const tracelake::RemoteServer& server, const Services& services,
                        std::set<std::string>& done, PushReport& report) {
  AACO_ASSIGN(const auto lake, tracelake::Lake::open(services.paths.sessions));
  const std::string place = core::sha256_hex(server.target().url + "/" + server.target().database).substr(0, 12);
  const std::string folder = core::join_path(core::join_path(services.paths.sessions, ".push"), place);
  report.failed.clear();
  for (const std::string& id : ids) {
    if (services.stopping()) break;
    if (done.contains(id)) continue;
    services.progress("pushing " + id);
    const auto pack = [&](const std::string& file) -> core::Status {
      AACO_ASSIGN(const std::string path, tracelake::find_session(services.paths.sessions, id));
      return tracelake::pack_session(path, file);
    };
    auto outcome = tracelake::push_session(server, *lake, id, pack, core::join_path(folder, id + ".json"));
    if (outcome) {
      done.insert(id);
      report.pushed.push_back(std::move(*outcome));
      continue;
    }
    report.failed.push_back({id, outcome.error()});
    if (tracelake::is_away(outcome.error())) break;
  }
  services.progress("");
  return {};
}

// Deletes what is too old, once per hour of watching.
class Expiry {
 public:
  explicit Expiry(std::optional<core::Nanoseconds> keep) : keep_(keep) {}
  core::Status run(const tracelake::RemoteServer& server, PushReport& report) {
    const auto now = std::chrono::steady_clock::now();
    if (!keep_ || now < next_) return {};
    AACO_ASSIGN(auto expired, tracelake::expire_remote(server, *keep_));
    report.expired.days += expired.days;
    report.expired.sessions.insert(report.expired.sessions.end(), expired.sessions.begin(), expired.sessions.end());
    next_ = now + std::chrono::hours(1);
    return {};
  }

 private:
  std::optional<core::Nanoseconds> keep_;
  std::chrono::steady_clock::time_point next_;
};

void wait_for(core::Nanoseconds time, const Services& services) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!services.stopping() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

core::Result<tracelake::RemoteServer> find_fleet(const std::string& name, const Services& services) {
  AACO_ASSIGN(auto target, tracelake::find_remote(name, fleet_files(services), services.environment));
  return tracelake::RemoteServer(std::move(target));
}

core::Result<PushReport> push(const PushRequest& request, const Services& services) {
  if (request.sessions.empty() && !request.all && !request.watch && request.telemetry.empty() && !request.keep)
    return core::fail(core::ErrorCode::invalid_argument, "no sessions given",
                      "pass sessions, --all, --watch, --telemetry FOLDER or --keep TIME");
  AACO_ASSIGN(const auto server, find_fleet(request.to, services));
  PushReport report;
  report.to = server.target().name;
  if (!request.watch) AACO_TRY(tracelake::prepare_remote(server));
  if (!request.telemetry.empty()) {
    AACO_ASSIGN(report.telemetry,
                tracelake::push_fleet_minutes(server, request.telemetry, [&](std::int64_t rows) -> core::Status {
                  services.progress(std::to_string(rows) + " rows of telemetry");
                  if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "stopped");
                  return {};
                }));
    services.progress("");
  }
  std::set<std::string> done;
  Expiry expiry(request.keep);
  do {
    AACO_ASSIGN(const auto ids, wanted_sessions(request, services));
    if (const auto ready = tracelake::prepare_remote(server); !ready) {
      if (!request.watch || !tracelake::is_away(ready.error())) return tl::unexpected<core::Error>(ready.error());
      services.progress("waiting: " + ready.error().message);
    } else {
      AACO_TRY(push_round(ids, server, services, done, report));
      AACO_TRY(expiry.run(server, report));
    }
    if (request.watch) wait_for(*request.watch, services);
  } while (request.watch && !services.stopping());
  return report;
}

core::Json to_json(const PushReport& report) {
  core::Json pushed = core::Json::array();
  for (const auto& one : report.pushed)
    pushed.push(core::Json::object({{"session_id", one.session_id},
                                    {"bundle", one.no_archive.empty()},
                                    {"already_there", one.already_there},
                                    {"tables", one.tables},
                                    {"rows", one.rows},
                                    {"resumed_tables", one.resumed_tables}}));
  core::Json failed = core::Json::array();
  for (const auto& one : report.failed)
    failed.push(core::Json::object({{"session_id", one.session_id}, {"error", one.error.message}}));
  return core::Json::object({{"schema_version", 1},
                             {"to", report.to},
                             {"pushed", std::move(pushed)},
                             {"failed", std::move(failed)},
                             {"telemetry_rows", report.telemetry.rows_sent},
                             {"telemetry_rows_already_there", report.telemetry.rows_there},
                             {"expired_days", report.expired.days},
                             {"expired_sessions", core::Json::texts(report.expired.sessions)}});
}

core::Result<RemoteRows> query_fleet(const QueryRequest& request, const std::string& on, const Services& services) {
  AACO_ASSIGN(auto server, find_fleet(on, services));
  if (request.format == "parquet")
    return core::fail(core::ErrorCode::unsupported, "--format parquet is not available with --on", "use --format csv or json");
  if (request.time_limit) {
    tracelake::RemoteTarget target = server.target();
    target.timeout_ns = request.time_limit->count();
    server = tracelake::RemoteServer(std::move(target));
  }
  AACO_TRY(tracelake::check_remote(server));
  RemoteRows out;
  AACO_ASSIGN(const auto result, server.query(request.sql));
  out.missing = server.missing_shards();
  out.text = format_rows(result, request.format, request.width);
  if (!request.output.empty()) {
    AACO_TRY(core::write_file_atomic(request.output, out.text));
    out.text = request.output + "\n";
  }
  return out;
}

}  // namespace aaco::workflows
