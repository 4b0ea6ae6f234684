#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/clock_graph.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// What a session on the server's machine (aaco record) recorded while a load ran, on the client's clock, with rank
// analytics::llm::kObservedRank.
struct ObservedServer {
  std::string session_id, host;
  std::vector<trace::SystemEventRow> events;
  std::vector<trace::GpuEventRow> gpu;
  std::vector<trace::SchedEventRow> sched;
  bool same_clock = false;          // the same boot of the same machine: its clock is the client's
  bool synchronised = false;        // both machines state that their real-time clocks are
  std::int64_t clock_error_ns = 0;  // bound on the error of its times
  double covered_ratio = 0;         // of the load
};

// The load of a session: where it lies on its clock, and how that is converted.
struct LoadSpan {
  const trace::ClockGraph& clocks;
  std::string env_path;  // its env.json
  std::int64_t from_ns = 0, to_ns = 0;
};

// Fails with invalid_input where the session is no recording, has no clock in common, or did not run at the same time.
core::Result<ObservedServer> read_observed(const std::string& session_path, const LoadSpan& load, trace::NameTable& names);

}  // namespace aaco::workflows
