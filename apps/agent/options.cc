#include "agent/options.h"

#include <CLI/CLI.hpp>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::agent {
namespace {

constexpr std::int64_t kMinIntervalNs = 100'000'000, kMaxIntervalNs = 30'000'000'000;
constexpr std::int64_t kMinLimitBytes = 1 << 20;

core::Result<std::int64_t> time_of(const std::string& text, const std::string& option) {
  const auto ns = core::parse_duration_ns(text);
  if (!ns || *ns <= 0)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + text + "' for '" + option + "': expected a duration such as 1s");
  return *ns;
}

std::string default_spool(const core::Environment& environment) {
  if (const auto folder = environment.get("STATE_DIRECTORY")) return *folder;
  const auto state = environment.get("XDG_STATE_HOME");
  return core::join_path(state ? *state : environment.get("HOME").value_or("/tmp") + "/.local/state", "aaco/agent");
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  app.add_option("--to", options.to, "clickhouse://HOST:PORT/DATABASE, clickhouses:// for HTTPS, or a name in fleet.yaml")
      ->type_name("FLEET");
  app.add_option("--spool", options.spool, "Folder for rows that wait to be sent (default: ~/.local/state/aaco/agent)")
      ->type_name("FOLDER");
  app.add_option("--limit", options.limit, "Maximum size of that folder; the oldest rows are dropped and counted")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--interval", options.interval, "Time between samples")->type_name("TIME")->capture_default_str();
  app.add_option("--node", options.node, "Name of this node (default: its host name)");
  app.add_option("--job", options.job, "Job of this node (default: found from the environment of its processes)");
  app.add_option("--duration", options.duration, "Stop after this time")->type_name("TIME");
  app.add_flag("--status", options.status, "Print the state of the agent that uses this spool as JSON, and exit");
  app.footer(
      "The agent samples CPUs and GPUs, and stores one row per device, metric group and minute (docs/formats/fleet.md). Rows "
      "wait in\n"
      "the spool while the fleet cannot be reached. User, password and token: AACO_CLICKHOUSE_USER, AACO_CLICKHOUSE_PASSWORD,\n"
      "AACO_CLICKHOUSE_TOKEN, or fleet.yaml.\n"
      "Examples:\n  aaco agent --to clickhouse://db:8123/aaco\n  aaco agent --status\n  sudo systemctl enable --now aaco-agent");
}

core::Result<Request> resolve(const Options& options, const core::Environment& environment) {
  Request request{options.to, options.spool, options.node, options.job, 0, 0, 0};
  if (request.spool.empty()) request.spool = default_spool(environment);
  AACO_ASSIGN(request.interval_ns, time_of(options.interval, "--interval"));
  if (request.interval_ns < kMinIntervalNs || request.interval_ns > kMaxIntervalNs)
    return core::fail(core::ErrorCode::invalid_argument, "--interval must be between 100ms and 30s");
  if (!options.duration.empty()) {
    AACO_ASSIGN(request.duration_ns, time_of(options.duration, "--duration"));
  }
  const auto limit = core::parse_bytes(options.limit);
  if (!limit || *limit < kMinLimitBytes)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + options.limit + "' for '--limit': expected a size of at least 1 MB, such as 256MB");
  request.limit_bytes = *limit;
  if (request.to.empty() && !options.status)
    return core::fail(core::ErrorCode::invalid_argument, "--to is required",
                      "pass clickhouse://HOST:PORT/DATABASE or a name in fleet.yaml");
  return request;
}

}  // namespace aaco::agent
