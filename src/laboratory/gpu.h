#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "core/result.h"
#include "laboratory/benchmarks.h"

// GPUs measured without a framework: the CUDA driver or the HIP runtime, own kernels, and the vendors' libraries of products and
// convolutions, all opened at run time. They are called in a worker process, for a kernel that hangs or a device that is lost
// takes its process along.
namespace aaco::laboratory {

struct GpuWorkerOptions {
  GpuRuntime runtime = GpuRuntime::cuda;
  int device = 0;                             // as the runtime numbers them
  std::int64_t patience_ns = 20'000'000'000;  // for work of one request; a device that takes longer counts as hung
};

// The worker: answers the lines of `in` (data/benchmarks/pytorch_operators.py describes them) until they end or the device is
// lost. Its first line also has "gpu" (facts of the device) and "libraries".
core::Status serve_gpu(const GpuWorkerOptions& options, std::istream& in, const std::function<void(const std::string&)>& say);

}  // namespace aaco::laboratory
