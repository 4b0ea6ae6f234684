#include "workflows/optimize/energy.h"

#include <algorithm>

namespace aaco::workflows {

core::Result<std::vector<runner::TimedCall>> run_metered(TrialProcess& process, std::int64_t calls, std::int64_t timeout_ns,
                                                         collectors::CpuEnergy& meter, std::vector<std::vector<double>>& blocks) {
  AACO_ASSIGN(const double before, meter.read_joules());
  AACO_ASSIGN(auto timed, process.run(calls, timeout_ns));
  AACO_ASSIGN(const double after, meter.read_joules());
  if (!(after > before))
    return core::fail(core::ErrorCode::unsupported, "the CPU energy counters did not advance during a block of calls");
  blocks.push_back(
      {(after - before) / static_cast<double>(calls) / static_cast<double>(std::max<std::int64_t>(process.batch(), 1))});
  return timed;
}

}  // namespace aaco::workflows
