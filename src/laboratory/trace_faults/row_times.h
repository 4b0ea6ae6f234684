#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "laboratory/trace_faults.h"
#include "laboratory/trace_faults/time_map.h"

// Times of the rows of a trace: when its devices were busy, and how rows are moved.
namespace aaco::laboratory::trace_faults {

// Times in which some kernel ran, of all kernels that `wanted` takes; ascending and apart.
std::vector<Stretch> busy_times(const TraceRows& rows, const std::function<bool(const trace::KernelRow&)>& wanted);
std::vector<Stretch> all_busy(const TraceRows& rows);
std::int64_t length_of(const std::vector<Stretch>& stretches);
// Span of the kernels that is in none of them.
std::int64_t idle_of(const TraceRows& rows);
std::int64_t span_of(const TraceRows& rows);

// Device work by one map, what the host does by another.
void move(TraceRows& rows, const TimeMap& host, const TimeMap& device);
inline void move(TraceRows& rows, const TimeMap& map) { move(rows, map, map); }

// The call that launched a kernel, by rank and correlation id.
using Launches = std::map<std::pair<std::int32_t, std::uint64_t>, std::size_t>;
Launches launches_of(const TraceRows& rows);

// Names of the runtime that the trace was made with.
struct Runtime {
  const char* domain;
  const char* launch;
  const char* graph_launch;
};
Runtime runtime_of(const TraceRows& rows, const trace::NameTable& names);

// The faults that apply.cc does not do itself, each in the file of its kind.
bool is_hold_up(std::string_view fault);
core::Result<Applied> hold_up(const TraceFault& fault, TraceRows& rows, trace::NameTable& names);  // hold_up.cc
bool is_reschedule(std::string_view fault);
core::Result<Applied> reschedule(const TraceFault& fault, TraceRows& rows, trace::NameTable& names);  // reschedule.cc
bool is_other_run(std::string_view fault);
core::Result<Applied> other_run(const TraceFault& fault, TraceRows& rows, trace::NameTable& names);  // other_run.cc

}  // namespace aaco::laboratory::trace_faults
