#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace aaco::runner {

// Peak memory of ONNX Runtime while loading `weight_bytes` of weights on a CPU, without activations. Embedded weights
// are held as a parsed message and as tensors (VGG-16, 553 MB: 1043 MB resident); external ones are mapped, and copied once where
// they are packed (GPT-2 large, 3097 MB: 3310 MB resident; both 1.30). Half precision is computed in single: the weights are cast
// on loading.
constexpr std::int64_t loading_bytes(std::int64_t weight_bytes, bool external, bool half) {
  return (external ? weight_bytes + weight_bytes / 10 : 2 * weight_bytes) + (half ? 2 * weight_bytes : 0);
}

// Memory available to this process, and what limits it.
struct MemoryRoom {
  std::int64_t bytes = 0;
  std::string bound;  // "free memory", "cgroup limit", "limit of the address space"
};

// The minimum of available memory and the headroom under the memory limits of this process's cgroups (v1 and v2;
// reclaimable page cache counts as available) and under its limit of the address space (RLIMIT_AS). `root` is prefixed to /proc
// and /sys, empty for this machine.
core::Result<MemoryRoom> memory_room(const std::string& root = {});

// Fails with exhausted if `needed_bytes` for `what` exceed the available memory.
core::Status require_memory(const std::string& what, std::int64_t needed_bytes, const MemoryRoom& room);

}  // namespace aaco::runner
