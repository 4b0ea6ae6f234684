#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

// Faults simulated on a GPU trace: how the trace would look with a capped device clock, with waits for copies
// ... Device and host times are stretched by the same map, so that the order of events is preserved.
namespace aaco::laboratory::trace_faults {

struct TraceFaultKind {
  std::string_view id;     // "gpu_clock_cap"
  std::string_view cause;  // the expected diagnosis
  std::string_view title;
  std::string_view intensity;  // meaning of 1
  // The expected verdict on such a trace alone, in words of the corpus (docs/formats/corpus.md); empty: one trace cannot tell.
  std::string_view class_id = {}, verdict_cause = {};
  std::vector<std::string_view> seconds = {}, must_not = {};
};
const std::vector<TraceFaultKind>& trace_fault_kinds();

struct TraceFault {
  const TraceFaultKind* kind = nullptr;
  double intensity = 0.5;     // above 0, at most 1
  std::uint64_t variant = 0;  // which of the recorded names of its kind a fault of the host shows
};
struct Stretch {
  std::int64_t start_ns = 0, end_ns = 0;
};

// What a fault did to the rows.
struct Applied {
  double share_ratio = 0;     // of the new span: time in which the device waits and did not before
  std::vector<Stretch> gaps;  // some of the intervals in which it waits for the fault, new times
  std::string frame;          // the host's event that shows it; empty: a call of the runtime, or none
};

core::Result<TraceFault> make_trace_fault(std::string_view name, double intensity, std::uint64_t variant = 0);
core::Json to_json(const TraceFault& fault);
core::Json to_json(const TraceFault& fault, const Applied& applied);

// The timed rows of a trace.
struct TraceRows {
  std::vector<trace::KernelRow> kernels;
  std::vector<trace::CopyRow> copies;
  std::vector<trace::ApiCallRow> calls;
  std::vector<trace::CollectiveRow> collectives;
  std::vector<trace::IterationRow> iterations;
  std::vector<trace::KernelCounterRow> counters;  // not placed in time
};

// Modifies the rows. invalid_input if the trace has no kernels, or lacks what the fault needs (launches, several ranks).
core::Result<Applied> apply(const TraceFault& fault, TraceRows& rows, trace::NameTable& names);

}  // namespace aaco::laboratory::trace_faults
