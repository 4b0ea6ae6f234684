#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/advice.h"
#include "trace/names.h"
#include "trace/rows.h"

// Recommendations for a GPU trace: each gain is the share of the span that would be saved, computed from the trace.
namespace aaco::analytics::advice {

// Waits for values from which on it is said that a graph cannot contain them: of the kernels, or of the time between launches
// (our own judgement).
inline constexpr double kSomeReads = 0.005;

struct GpuIdle {
  std::int64_t gap_count = 0;
  double idle_ns = 0;
};

// What the launching thread did while the device was idle (analytics/gap_causes.h).
struct HostIdle {
  std::string cause, title, remedy;
  bool launching = false;  // in launch calls, or between them and the work: a matter of the launch rate
  GpuIdle idle;
  bool outside = false;  // some of it before the device's first work or after its last
};

// Kernels of the same name on the device.
struct GpuKernel {
  std::string name, family;
  double count = 0, sum_ns = 0;
  std::optional<double> ideal_ns;  // at the device limits, if its operations and bytes are known
  bool memory_roof = false;        // memory is the tighter limit
  std::string faster_dtype;        // that would be faster than the kernel's own type; empty: none is known
  double faster_saved_ns = 0;      // of its time, with that type
};

// Copies of one kind while no compute kernel ran, and what launched them (empty: not in the trace).
struct ExposedCopy {
  double exposed_ns = 0;
  std::map<std::string, double> launchers;
};

// What is said of many small copies or fills of one kind (column kind of copies).
struct IssuedWork {
  std::string id, title, remedy;
};
IssuedWork issued_work(std::string_view kind, double count, std::optional<double> mean_bytes);

// One device of a trace.
struct GpuFacts {
  std::string session = "SESSION";  // how commands call it
  double span_ns = 0, busy_ns = 0;
  double steps_ns = 0;  // duration of all steps of its rank; 0: the trace has none
  double exposed_copy_ns = 0, exposed_collective_ns = 0;
  std::map<std::string, GpuIdle> idle;      // by cause (analytics/gaps.h)
  std::vector<HostIdle> host;               // the same time by named cause; empty: not looked for
  double launch_ns = 0;                     // idle time due to launch overhead (analytics/gpu_limit.h)
  double drained_ns = 0;                    // idle in short gaps, after the host had waited for the device or for a value of it
  double copy_issue_ns = 0;                 // of launch_ns, before copies and fills that are issued one by one
  std::string issued_title, issued_remedy;  // of these copies and fills (issued_work())
  std::map<std::string, double> copy_ns;    // device time of copies by kind (column kind of copies); empty: unknown
  std::map<std::string, ExposedCopy> exposed_copies;  // by kind; empty: unknown which of them were exposed
  std::optional<double> pinned_ratio;     // of the time of copies from and to the host, from pinned memory; empty: unknown
  std::optional<std::int64_t> straggler;  // the rank that the others wait for in collectives
  std::vector<GpuKernel> kernels;
  // Where equal kernels get slower over the trace (analytics/kernel_pace.h): how much, and their time beyond the early pace.
  double late_to_early_ratio = 1, slowing_excess_ns = 0;
  // A kernel with far fewer work-groups than the device has units; empty: none.
  std::string few_groups_kernel, few_groups;  // its name, and how many for how many
};

// What the roofline found of one kernel by name, in part of its executions.
struct KernelRoof {
  std::string name;
  double time_ns = 0;
  double reached_ratio = 0;  // of the roof
  bool memory_roof = false;
  std::string faster_dtype = {};  // empty: none is known
  double faster_ratio = 1;        // of the roof's time, what a kernel of that type would take at the same share of its peak
};
// Kernels of one device by name. Those with a roof would take their time less what lies above it, but per execution no less than
// the shortest kernel of the device takes.
std::vector<GpuKernel> gpu_kernels(std::span<const trace::KernelGroupRow> rows, const trace::NameTable& names, std::int32_t rank,
                                   std::int64_t device, std::span<const KernelRoof> roofs);

// At most kMaxRecommendations, sorted by expected saving; gains overlap and do not add up. All are relative to the steps where
// the trace has steps that last longer than the span, else to the span. Empty without a span.
std::vector<Recommendation> recommend_gpu(const GpuFacts& facts);

}  // namespace aaco::analytics::advice
