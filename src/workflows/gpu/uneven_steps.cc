#include "workflows/gpu/uneven_steps.h"

#include <algorithm>

#include "stats/robust.h"

namespace aaco::workflows {

void StepLengths::add(const trace::IterationRow& step) {
  if (auto& steps = steps_[step.rank]; step.duration_ns > 0 && steps.size() < kMaxSteps)
    steps.push_back({step.start_ns, step.duration_ns});
}

std::optional<UnevenSteps> StepLengths::uneven(std::int32_t rank,
                                               const std::vector<analytics::trace_time::EqualKernels>& kernels) const {
  const auto found = steps_.find(rank);
  if (found == steps_.end() || found->second.size() < kMinSteps) return std::nullopt;
  std::vector<Step> steps = found->second;
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.start_ns < b.start_ns; });
  std::vector<double> durations;
  double all_ns = 0;
  for (const Step& step : steps) durations.push_back(static_cast<double>(step.duration_ns)), all_ns += durations.back();
  UnevenSteps uneven;
  uneven.median_ns = stats::median(durations);
  uneven.step_count = static_cast<std::int64_t>(steps.size());
  for (std::size_t i = 0; i < durations.size(); ++i) {
    if (durations[i] < kMuchLonger * uneven.median_ns) continue;
    ++uneven.long_count;
    uneven.long_ns += durations[i];
    if (durations[i] <= uneven.longest_ns) continue;
    uneven.longest_ns = durations[i];
    uneven.longest = static_cast<std::int64_t>(i) + 1;
  }
  uneven.long_ratio = uneven.long_ns / all_ns;
  if (uneven.long_count == 0 || uneven.long_ratio < kMatters) return std::nullopt;
  if (uneven.longest != 1) return uneven;
  for (const auto& one : kernels)
    if (one.family != "collective" && one.last_start_ns < steps[1].start_ns && one.first_start_ns >= steps[0].start_ns)
      ++uneven.once_count, uneven.once_ns += static_cast<double>(one.sum_ns);
  return uneven;
}

}  // namespace aaco::workflows
