#include "workflows/stability.h"

#include "core/files.h"
#include "laboratory/stability.h"

namespace aaco::workflows {

core::Result<analytics::noise::StabilityVerdict> check_stability(core::Nanoseconds duration, const Services& services) {
  AACO_ASSIGN(const auto limits,
              analytics::noise::load_stability_limits(core::join_path(services.paths.share, "data/rules/stability.yaml")));
  static const std::atomic<bool> kNever{false};
  AACO_ASSIGN(const auto sample, laboratory::stability::measure(
                                     {duration, 10}, services.stop != nullptr ? *services.stop : kNever, services.progress));
  return analytics::noise::judge_stability(sample, limits);
}

}  // namespace aaco::workflows
