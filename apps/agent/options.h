#pragma once

#include <cstdint>
#include <string>

#include "core/environment.h"
#include "core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace aaco::agent {

// What `aaco agent` and `aaco-agent` ask for, as typed.
struct Options {
  std::string to, spool, node, job, interval = "1s", duration, limit = "256MB";
  bool status = false;
};
inline constexpr const char* kAboutAgent = "Watch this node and send its telemetry to a fleet (docs/how_to/watch_a_fleet.md)";

void add_options(CLI::App& app, Options& options);

struct Request {
  std::string to, spool, node, job;
  std::int64_t interval_ns = 0, duration_ns = 0, limit_bytes = 0;  // duration 0: until stopped
};
// Fails with invalid_argument where a value is not valid. The default folder of the spool is $STATE_DIRECTORY (set by systemd) or
// ${XDG_STATE_HOME:-~/.local/state}/aaco/agent.
core::Result<Request> resolve(const Options& options, const core::Environment& environment);

}  // namespace aaco::agent
