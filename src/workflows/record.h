#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workflows/run.h"
#include "workflows/signal_relay.h"

namespace aaco::workflows {

struct RecordRequest {
  std::vector<std::string> command;           // a program with its arguments; empty with process_id
  std::optional<std::int64_t> process_id;     // a running process instead
  std::optional<core::Nanoseconds> duration;  // end observing after this long
  core::Nanoseconds telemetry_period{10'000'000};
  bool ebpf = false;                // what the operating system does to the process tree
  bool hooks = false;               // the calls of GPU runtimes, by a preloaded library
  bool hook_libraries = false;      // and those of BLAS, DNN and collective libraries
  std::vector<std::string> traces;  // files or folders that the command's own profiler writes: joined to the hooked calls
  bool profile = false;             // execute the command again under the GPU profiler that is on the path
  std::string profile_domains;      // what to trace ("kernel,hip"); empty: the usual
  std::string counters;             // hardware counters ("SQ_WAVES,GRBM_COUNT"), in one execution more
  std::optional<core::Nanoseconds> profile_timeout;
  std::string tag;
  IsolationRequest isolation;    // of the command
  SignalRelay* relay = nullptr;  // passes signals on to the command
  // What is going on while the command runs. Services::progress is silent meanwhile: the terminal is the command's.
  std::function<void(std::string_view)> beside_command = [](std::string_view) {};
};

struct RecordOutcome {
  SessionOutcome session;
  int exit_code = 0;  // the child's own; 0 for an observed process; 127 or 126 for a command that could not be started
  std::optional<core::Error> not_started;  // then there is no session
};

// Observes a program and its children from start to end (or a running one until it ends, `duration` passes or the user stops),
// and stores the evidence. The child keeps its standard streams; signals are passed on to it, and the bundle is whole all the
// same.
core::Result<RecordOutcome> record(const RecordRequest& request, const Services& services);

}  // namespace aaco::workflows
