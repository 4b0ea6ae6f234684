#pragma once

#include <string_view>

namespace aaco::importers::kineto {

// What an event of a PyTorch trace is, in whichever year's words.
enum class Category {
  kernel,
  copy,
  memset,
  runtime,     // CUDA or HIP runtime calls; the name tells which
  driver,      // CUDA driver calls
  operation,   // an operator of the framework
  annotation,  // a range on the host
  gpu_annotation,
  python,
  synchronisation,  // device-side waits that CUPTI records
  overhead,         // what the profiler itself cost
  profiler_span,    // the profiler's own range
  flow,             // arrows from launch to kernel
  other_flow,       // arrows between forward and backward
  other,
};

Category category_of(std::string_view text);

}  // namespace aaco::importers::kineto
