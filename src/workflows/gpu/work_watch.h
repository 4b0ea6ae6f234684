#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analytics/attribution.h"
#include "analytics/fingerprint.h"
#include "analytics/gap_causes.h"
#include "analytics/kernel_pace.h"
#include "analytics/trace_time.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "workflows/gpu/uneven_steps.h"
#include "workflows/gpu/work_findings.h"

namespace aaco::workflows {

// Collects what the work of a trace shows beside its times, while it streams past in order of start.
class WorkWatch {
 public:
  using Device = std::pair<std::int32_t, std::int64_t>;  // rank, device
  void add(const trace::KernelRow& row, analytics::fingerprint::Family family);
  void add(const trace::IterationRow& step);
  // `unit_count`: compute units (streaming multiprocessors) of the device, 0: unknown.
  [[nodiscard]] WorkFindings finish(const Device& device, const analytics::trace_time::DeviceTime& time, double unit_count,
                                    const trace::NameTable& names) const;
  // The host's time from its first event to the device's first work or the rank's first step, whichever is earlier. Reads the
  // calls of the bundle again where that is long beside the device's span. After the steps.
  [[nodiscard]] core::Result<std::optional<LeadTime>> lead_time(const std::string& path, std::int32_t rank,
                                                                const analytics::trace_time::DeviceTime& time,
                                                                std::optional<std::int64_t> host_start_ns,
                                                                const analytics::gaps::CauseBook& causes) const;

 private:
  analytics::trace_time::KernelPace pace_;
  std::map<std::int32_t, std::int64_t> steps_start_;  // by rank
  StepLengths lengths_;
};

}  // namespace aaco::workflows
