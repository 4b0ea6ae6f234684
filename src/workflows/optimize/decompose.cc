#include "workflows/optimize/decompose.h"

#include <cmath>

#include "core/clock.h"

namespace aaco::workflows {
namespace {

constexpr int kLeaveOneOutRounds = 3;

}  // namespace

core::Result<std::vector<OptimizePart>> decompose(const Trial& winner, TrialBench& bench, const Space& space,
                                                  std::int64_t deadline_ns, const Services& services) {
  using analytics::configsearch::typical_effect;
  std::vector<OptimizePart> parts;
  if (analytics::configsearch::changes(winner.configuration) < 2) return parts;
  for (std::size_t axis = 0; axis < winner.configuration.size(); ++axis) {
    if (winner.configuration[axis] == 0) continue;
    Trial without;
    without.configuration = winner.configuration;
    without.configuration[axis] = 0;
    services.progress("measuring the winner without " + space.axes[axis].id);
    for (int round = 0; round < kLeaveOneOutRounds && without.usable(); ++round) {
      if (services.stopping() || core::monotonic_ns() + bench.start_ns() > deadline_ns) return parts;
      AACO_TRY(bench.measure(without, deadline_ns));
    }
    if (!without.usable() || without.log_effects.empty()) continue;
    parts.push_back({space.axes[axis].id + "=" + space.axes[axis].values[winner.configuration[axis]].id,
                     std::expm1(typical_effect({0, without.log_effects}) - typical_effect({0, winner.log_effects}))});
  }
  return parts;
}

}  // namespace aaco::workflows
