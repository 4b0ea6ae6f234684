#include "workflows/compare/kernel_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "trace/kernel_name.h"

namespace aaco::workflows {
namespace {

using analytics::tracediff::CallVerdict;
using analytics::tracediff::KernelChange;
using core::Json;

constexpr std::size_t kMaxKernelName = 60;

bool is_decided(const KernelChange& kernel) {
  return kernel.verdict == CallVerdict::slower || kernel.verdict == CallVerdict::faster;
}

}  // namespace

std::optional<SuspectedCause> decided_kernel(const analytics::tracediff::TraceDifference& difference, double threshold_ratio) {
  double kernels_ns = 0, slower_ns = 0, faster_ns = 0;
  const KernelChange* largest = nullptr;
  for (const KernelChange& kernel : difference.kernels) {
    kernels_ns += kernel.a.per_step_ns;
    if (!is_decided(kernel) || (kernel.time_part_ns > 0) != (kernel.verdict == CallVerdict::slower)) continue;
    (kernel.time_part_ns > 0 ? slower_ns : faster_ns) += std::abs(kernel.time_part_ns);
    if (largest == nullptr || std::abs(kernel.time_part_ns) > std::abs(largest->time_part_ns)) largest = &kernel;
  }
  if (largest == nullptr || std::abs(largest->time_part_ns) < threshold_ratio * kernels_ns) return std::nullopt;
  const bool slower = largest->verdict == CallVerdict::slower;
  // Some slower and others faster is no single cause.
  if (2 * (slower ? faster_ns : slower_ns) > (slower ? slower_ns : faster_ns)) return std::nullopt;
  const std::string name = trace::short_kernel_name(largest->name).substr(0, kMaxKernelName);
  Json cause = Json::object({{"cause", slower ? "slower_kernels" : "faster_kernels"},
                             {"title", slower ? "slower kernels" : "faster kernels"},
                             {"kernel", largest->name}});
  cause.set_if("p_holm", largest->p_holm);
  return SuspectedCause{fmt::format("{}: {} per call instead of {} ({}), {} per step; the whole is inconclusive", name,
                                    core::format_duration(largest->b.mean_ns), core::format_duration(largest->a.mean_ns),
                                    core::format_signed_percent(largest->b.mean_ns / largest->a.mean_ns - 1),
                                    core::format_signed_duration(largest->time_part_ns)),
                        slower ? "find the library or shape change behind this kernel, and revert it"
                               : "no action needed: this kernel is faster in B",
                        Json::object({{"of", "kernel"}, {"causes", Json::array({std::move(cause)})}})};
}

}  // namespace aaco::workflows
