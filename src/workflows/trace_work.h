#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analytics/step_time.h"
#include "analytics/tracediff.h"
#include "core/result.h"
#include "trace/metric.h"
#include "trace/names.h"

namespace aaco::workflows {

// What a trace's device work says, cut at its steps.
struct TraceWork {
  trace::NameTable names;                         // of the calls below
  std::vector<analytics::tracediff::Step> steps;  // kernels by step; one step where the trace has none
  bool has_steps = false;
  bool cut = false;                                   // more kernels than are kept: the first ones only
  std::map<std::string, std::vector<double>> series;  // metric id -> a value a step, all devices together
  std::map<std::string, trace::MetricValue> values;   // of a step (of the trace without steps), from the scatter of the calls
  analytics::trace_time::StepTime time;               // of a step and device
  std::map<std::string, double> grids;                // "KERNEL\nXxYxZ" -> time, ns, where the grid is known
  // Threads of a call by kernel, where the grid is known: groups, times the threads of each where these are.
  std::map<std::string, analytics::trace_time::Scatter> threads;
};

// Device work of a stored session; null where it has none.
core::Result<std::shared_ptr<const TraceWork>> load_trace_work(const std::string& session_path);

}  // namespace aaco::workflows
