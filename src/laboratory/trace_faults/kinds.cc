#include <algorithm>
#include <cmath>

#include "core/strings.h"
#include "laboratory/trace_faults.h"

namespace aaco::laboratory::trace_faults {

const std::vector<TraceFaultKind>& trace_fault_kinds() {
  static const std::vector<TraceFaultKind> kinds = {
      {"gpu_clock_cap", "clock_throttling", "the device runs at a lower clock", "kernels take twice as long"},
      {"gpu_thermal_steps", "clock_throttling", "the clock drops and recovers",
       "kernels take three times as long in every other busy interval"},
      {"gpu_gaps", "dependency_bound", "launched work begins late on the device", "gaps as long as the busy intervals"},
      {"gpu_copies", "copy_bound", "a copy before every busy interval", "copies as long as the busy intervals"},
      {"gpu_slower_kernel", "slower_kernels", "the costliest kernel has a slower implementation",
       "the kernel takes twice as long"},
      {"gpu_more_launches", "more_launches", "kernels are split into several launches", "four launches per kernel"},
      {"host_data_loader",
       "data_loading",
       "the host waits for the data loader before it launches",
       "waits twice as long as the busy intervals",
       "host",
       "data-loading",
       {"mixed"},
       {"launch", "memory", "compute"}},
      {"host_garbage_collection",
       "garbage_collection",
       "garbage collection stops the launching thread",
       "pauses twice as long as the busy intervals",
       "host",
       "gc",
       {"python"},
       {"launch", "memory", "data-loading"}},
      {"host_allocation",
       "allocation",
       "device memory is allocated in the loop",
       "allocations twice as long as the busy intervals",
       "host",
       "allocation",
       {},
       {"launch", "memory", "data-loading"}},
      {"host_synchronous_copies",
       "copy_bound",
       "blocking copies before busy intervals",
       "copies twice as long as the busy intervals",
       "transfer",
       "synchronous-copy",
       {"host"},
       {"launch", "compute", "data-loading"}},
      {"host_first_use",
       "first_use",
       "code is loaded inside the first launch of each kernel",
       "loading twice as long as the busy intervals",
       "warmup",
       "first-use",
       {"library-initialisation", "jit-compilation"},
       {"memory", "compute", "data-loading"}},
      {"host_checkpoint",
       "checkpoint",
       "the launching thread writes a checkpoint",
       "waits twice as long as the busy intervals",
       "host",
       "checkpoint",
       {},
       {"launch", "memory", "data-loading"}},
      {"host_logging",
       "logging",
       "the launching thread writes logs",
       "waits twice as long as the busy intervals",
       "host",
       "logging",
       {},
       {"launch", "memory", "data-loading"}},
      {"host_compilation",
       "jit_compilation",
       "kernels are compiled in the loop",
       "waits twice as long as the busy intervals",
       "warmup",
       "jit-compilation",
       {},
       {"launch", "memory", "data-loading"}},
      {"host_synchronisation",
       "host_waiting",
       "the launching thread waits for the device and launches late",
       "waits twice as long as the busy intervals",
       "host",
       "synchronisation",
       {},
       {"launch", "memory", "data-loading"}},
      {"host_blocked_launch",
       "host_waiting",
       "launch calls block for a reason that is not recorded",
       "calls twice as long as the busy intervals",
       "host",
       "launch",
       {"unknown", "graph-launch"},
       {"memory", "compute", "data-loading", "warmup"}},
      {"slow_rank",
       "slow_rank",
       "one rank computes more slowly, the others wait in their collectives",
       "the rank takes twice as long",
       "communication",
       "straggler",
       {"mixed"},
       {"memory", "data-loading"}},
      {"small_batch",
       "launch_overhead",
       "kernels are shorter than their launches",
       "a twentieth of their time",
       "launch",
       "small-kernels",
       {"host", "framework", "python", "launch-latency", "launch"},
       {"memory", "compute", "data-loading"}},
      {"host_busy_core",
       "host_waiting",
       "the host is slowed by other work on its core",
       "all host work takes five times as long",
       "host",
       "unknown",
       {"launch", "framework", "python", "synchronisation", "small-kernels"},
       {"memory", "compute", "data-loading"}},
      {"graph_replay",
       "graph_replay",
       "launches are replaced by one graph launch per busy interval",
       "every launch",
       "mixed",
       "device-busy",
       {"compute", "memory", "cannot-tell"},
       {"host", "launch", "data-loading"}},
      {"counter_passes",
       "counter_pass",
       "kernels are serialised to collect counters",
       "pauses ten times as long as the kernels",
       "cannot-tell",
       "counter-pass",
       {"memory", "compute"},
       {"host", "launch", "data-loading"}},
      {"merged_runs",
       "merged_runs",
       "the same run twice in one file, an hour apart",
       "one hour apart",
       "cannot-tell",
       "merged-runs",
       {"memory", "compute"},
       {"host", "launch", "data-loading"}},
  };
  return kinds;
}

core::Json to_json(const TraceFault& fault, const Applied& applied) {
  core::Json document = to_json(fault);
  core::Json gaps = core::Json::array();
  for (const Stretch& gap : applied.gaps) gaps.push(core::Json::array({gap.start_ns, gap.end_ns}));
  if (!applied.frame.empty()) document.set("frame", applied.frame);
  return document.set("share_ratio", applied.share_ratio).set("gaps_ns", std::move(gaps));
}

core::Result<TraceFault> make_trace_fault(std::string_view name, double intensity, std::uint64_t variant) {
  const auto& kinds = trace_fault_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.id == name; });
  if (kind == kinds.end()) {
    std::vector<std::string_view> names;
    for (const auto& one : kinds) names.push_back(one.id);
    const std::string_view near = core::nearest(name, names);
    return core::fail(core::ErrorCode::invalid_argument, "unknown trace fault '" + std::string(name) + "'",
                      near.empty() ? "'aaco lab faults' lists the faults" : "did you mean " + std::string(near) + "?");
  }
  if (!std::isfinite(intensity) || intensity <= 0 || intensity > 1)
    return core::fail(core::ErrorCode::invalid_argument, "the intensity must be above 0 and at most 1",
                      "1 means: " + std::string(kind->intensity));
  return TraceFault{&*kind, intensity, variant};
}

core::Json to_json(const TraceFault& fault) {
  return core::Json::object({{"fault", fault.kind->id},
                             {"cause", fault.kind->cause},
                             {"intensity_ratio", fault.intensity},
                             {"variant", static_cast<std::int64_t>(fault.variant)},
                             {"generator", "simulated"},
                             {"means", fault.kind->title}});
}

}  // namespace aaco::laboratory::trace_faults
