#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"

// Causes simulated on a GPU trace: what the trace would look like if the device's clock were capped, if it had to wait for copies
// ... Times are stretched along one map for device and host alike, so that what followed still follows.
namespace aaco::laboratory::trace_faults {

struct TraceFaultKind {
  std::string_view id;     // "gpu_clock_cap"
  std::string_view cause;  // what finding it means
  std::string_view title;
  std::string_view intensity;  // what 1 means
};
const std::vector<TraceFaultKind>& trace_fault_kinds();

struct TraceFault {
  const TraceFaultKind* kind = nullptr;
  double intensity = 0.5;  // above 0, at most 1
};
core::Result<TraceFault> make_trace_fault(std::string_view name, double intensity);
core::Json to_json(const TraceFault& fault);

// The rows of a trace that have a place in time.
struct TraceRows {
  std::vector<trace::KernelRow> kernels;
  std::vector<trace::CopyRow> copies;
  std::vector<trace::ApiCallRow> calls;
  std::vector<trace::CollectiveRow> collectives;
  std::vector<trace::IterationRow> iterations;
};

// Changes the rows. invalid_input where the trace has no kernels.
core::Status apply(const TraceFault& fault, TraceRows& rows, trace::NameTable& names);

}  // namespace aaco::laboratory::trace_faults
