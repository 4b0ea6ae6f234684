#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/observer.h"
#include "stats/summary.h"
#include "trace/metric.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "trace/session.h"

namespace aaco::analytics::metrics {

struct LatencyMetrics {
  trace::Metrics metrics;                         // latency.* throughput.* warmup.* observer.* profile.*, as far as measured
  std::string measured_phase;                     // "measure", or "step" for an imported trace; empty if there is neither
  stats::Summary measured;                        // durations of that phase, ns
  std::optional<stats::ObserverEffect> observer;  // empty if no block ran with telemetry
};

// Latency metrics of a session's iterations, all ranks together. `names` is the name table of the rows; `items_per_iteration`
// is the batch.
LatencyMetrics latency_metrics(std::span<const trace::IterationRow> iterations, const trace::NameTable& names,
                               std::int64_t items_per_iteration);

// CPU time of the calling thread per call: it stays readable where other programs keep the calls waiting.
inline constexpr std::string_view kCallerCpu = "latency.caller_cpu_ns";
// Of each measured block without telemetry, in order; blocks without any of `iterations` (disturbed ones that were left out) and
// blocks that the kernel did not account are missing.
std::vector<double> caller_cpu_of(std::span<const trace::LoopBlockRow> blocks, std::span<const trace::IterationRow> iterations,
                                  const trace::NameTable& names);
// latency.caller_cpu_ns; empty without blocks.
trace::Metrics caller_cpu_metrics(std::span<const trace::LoopBlockRow> blocks, std::span<const trace::IterationRow> iterations,
                                  const trace::NameTable& names);

// load.duration_ns from the session's phases.
trace::Metrics phase_metrics(std::span<const trace::Phase> phases);

// Durations in ns of a phase's iterations, by rank and start.
std::vector<double> durations_of(std::span<const trace::IterationRow> iterations, const trace::NameTable& names,
                                 std::string_view phase);

}  // namespace aaco::analytics::metrics
