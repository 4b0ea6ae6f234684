#include "analytics/step_periods.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace aaco::analytics::steps {

std::optional<std::vector<trace::IterationRow>> step_periods(std::span<const trace::IterationRow> iterations,
                                                             const trace::NameTable& names) {
  std::vector<trace::IterationRow> steps;
  for (const trace::IterationRow& row : iterations)
    if (names.text(row.phase) == "step") steps.push_back(row);
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.start_ns, a.iteration) < std::tie(b.rank, b.start_ns, b.iteration);
  });
  std::vector<trace::IterationRow> periods;
  double between = 0, all = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    trace::IterationRow step = steps[i];
    const trace::IterationRow& next = steps[i + 1];
    if (next.rank != step.rank || next.iteration != step.iteration + 1) continue;
    const std::int64_t period = next.start_ns - step.start_ns;
    if (step.duration_ns < 0 || period < step.duration_ns) return std::nullopt;
    between += static_cast<double>(period - step.duration_ns);
    all += static_cast<double>(period);
    step.duration_ns = period;
    periods.push_back(step);
  }
  if (periods.empty() || between < kTouching * all) return std::nullopt;
  return periods;
}

}  // namespace aaco::analytics::steps
