#include "analytics/advice/small_kernels.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace aaco::analytics::advice {

bool is_small(const GpuKernel& kernel) { return kernel.count > 0 && kernel.sum_ns / kernel.count < kMicrokernelNs; }

bool is_of_library(const GpuKernel& kernel) {
  constexpr std::array<std::string_view, 5> kParts = {"nchwTo", "nhwcTo", "batched_transpose", "SubTensor", "splitKreduce"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return kernel.name.find(part) != std::string::npos; });
}

bool is_fused(const GpuKernel& kernel) {
  constexpr std::array<std::string_view, 6> kFusible = {"elementwise", "normalisation",  "softmax",
                                                        "reduction",   "copy_transpose", "optimiser"};
  return is_small(kernel) && !is_of_library(kernel) &&
         std::find(kFusible.begin(), kFusible.end(), kernel.family) != kFusible.end();
}

}  // namespace aaco::analytics::advice
