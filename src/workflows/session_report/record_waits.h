#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/operating_system_section.h"

namespace aaco::workflows {

// What the threads of a recorded program slept for, from the scheduler's events (--ebpf). Sums over threads.
struct RecordedWaits {
  double storage_ns = 0, stopped_ns = 0, frozen_ns = 0, run_queue_ns = 0;  // run_queue_ns: runnable without a CPU
  double storage_woken_ns = 0;                                             // of run_queue_ns: right after a sleep for storage
  std::string storage_call;       // in which it slept longest for storage: "fdatasync"; empty: in none that is known
  double traced_ns = 0;           // stopped by a tracer (ptrace): strace, a debugger
  std::int64_t traced_count = 0;  // such stops
  std::string storage_text;       // "io in fsync 3.82 s"
  std::vector<std::pair<std::string, double>> causes;  // of all sleep: "storage", ns; the longest first
  std::string text;  // the longest of all: "lock or hand-over (futex) 24.0 s, timer (clock_nanosleep) 5.98 s"
};
// Empty without events.
std::optional<RecordedWaits> recorded_waits(const std::optional<report::OperatingSystem>& system);

}  // namespace aaco::workflows
