#pragma once

#include "analytics/gpu_advice.h"

// Which kernels advice on fusion is about.
namespace aaco::analytics::advice {

inline constexpr double kMicrokernelNs = 10'000;  // a kernel shorter than this costs less than launching it (trace_time.h)

bool is_small(const GpuKernel& kernel);
// What a library puts around its own kernels, where no compiler reaches.
bool is_of_library(const GpuKernel& kernel);
// Small, and of a family that compilers fuse.
bool is_fused(const GpuKernel& kernel);

}  // namespace aaco::analytics::advice
