#pragma once

#include <string_view>

namespace aaco::trace {

// Whether an API call of this domain (`ApiCallRow::domain`) is of a GPU's runtime or driver, whose calls launch work: ROCm's
// ranges, the host's functions and operators are of other domains.
inline bool is_gpu_runtime(std::string_view domain) {
  return domain == "hip" || domain == "hsa" || domain == "cuda_runtime" || domain == "cuda_driver";
}

}  // namespace aaco::trace
