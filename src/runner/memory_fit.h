#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace aaco::runner {

// Memory this process may still take, and what sets the bound.
struct MemoryRoom {
  std::int64_t bytes = 0;
  std::string bound;  // "free memory", "the cgroup's limit"
};

// The smaller of what the kernel says is available and what is left under the memory limits of this process's cgroups (v1 and v2;
// page cache that can be dropped counts as left). `root` stands before /proc and /sys, empty for this machine.
core::Result<MemoryRoom> memory_room(const std::string& root = {});

// Fails with exhausted, in words, where `needed_bytes` for `what` is more than there is room for.
core::Status require_memory(const std::string& what, std::int64_t needed_bytes, const MemoryRoom& room);

}  // namespace aaco::runner
