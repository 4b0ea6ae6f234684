#pragma once

#include <map>
#include <optional>
#include <string>

#include "analytics/rootcause.h"

// Why one GPU trace is slower than another.
namespace aaco::analytics::rootcause {

struct KernelSum {
  double count = 0;
  double sum_ns = 0;
};

// A step of a trace (the whole trace if it has no steps), all devices together.
struct TraceSide {
  double span_ns = 0;
  double compute_ns = 0;  // union of kernels that are not collectives
  double exposed_copy_ns = 0, exposed_collective_ns = 0;
  std::map<std::string, double> idle_ns;  // by cause; with the above they add up to the span
  std::map<std::string, KernelSum> kernels;
  std::optional<double> clock_hz;  // mean of the device's clock, where it was recorded
  // Titles of the causes in idle_ns that are an activity of the host (data loading, garbage collection), by their id.
  std::map<std::string, std::string> activities;
  // The same of the causes for which launched work was held back on the device (an event, a value in memory, another device).
  std::map<std::string, std::string> held;
};

Decomposition decompose_traces(const TraceSide& a, const TraceSide& b);

// clock_throttling (most kernels changed alike, and the recorded clock with them), kernels_alike (most kernels changed alike, no
// clock recorded), slower_kernels or faster_kernels (few did), more_launches (more and shorter ones), copy_bound,
// communication_bound, an activity of the host, dependency_bound (launched work was held back on the device), host_waiting (idle
// for anything else). The largest first; `probability` is the share of the difference that supports it.
std::vector<Cause> find_trace_causes(const TraceSide& a, const TraceSide& b, const Decomposition& decomposition,
                                     const bottleneck::RuleBook& book);

}  // namespace aaco::analytics::rootcause
