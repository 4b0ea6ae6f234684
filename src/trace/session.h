#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/id.h"
#include "core/json.h"
#include "trace/account.h"
#include "trace/clock_graph.h"
#include "trace/outcome.h"

namespace aaco::trace {

inline constexpr int kSessionSchemaVersion = 2;

// A span of the session with a name: load, warmup, measure, profile.
struct Phase {
  std::string name;
  std::int64_t start_ns = 0;  // home clock
  std::int64_t end_ns = 0;
  bool operator==(const Phase&) const = default;
};

// A warning that heads every report: what is missing or distorted, and what to do about it.
struct Warning {
  std::string id;       // "telemetry.gpu_missing": stable, for tests and filters
  std::string message;  // one sentence
  std::string remedy;   // may be empty
  bool operator==(const Warning&) const = default;
};

// session.json: the spine of a bundle.
struct SessionManifest {
  int schema_version = kSessionSchemaVersion;
  core::SessionId id;
  std::string kind;  // run, record, import, sweep
  std::string tag;
  std::string tool_version;
  std::int64_t created_realtime_ns = 0;
  core::ClockId home_clock = core::ClockId::monotonic;
  std::vector<std::string> command;  // as the user typed it
  core::Json request;                // what was asked, every option resolved
  Outcome outcome;                   // what ran: model, backend, provider, batch, counts, stopping reason
  std::vector<Phase> phases;
  ClockGraph clocks;
  std::vector<Account> accounts;
  std::vector<Warning> warnings;
  std::string fingerprint;                    // of what must be equal for two sessions to be compared
  std::map<std::string, std::string> hashes;  // file in the bundle -> SHA-256
  std::string state = "complete";             // complete, interrupted (a whole bundle, ended early), incomplete

  [[nodiscard]] bool whole() const { return state == "complete" || state == "interrupted"; }
};

core::Json to_json(const SessionManifest& manifest);
// Refuses a newer schema version by name, one that lacks id or kind, an unknown clock, and a phase or clock pair without its
// times.
core::Result<SessionManifest> session_from_json(const core::Json& document);

core::Json to_json(const std::vector<Warning>& warnings);

}  // namespace aaco::trace
