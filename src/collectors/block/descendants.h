#pragma once

#include <cstddef>
#include <cstdint>

#include "collectors/collector.h"

namespace aaco::collectors {

// Processes looked at: what is beyond is not counted.
inline constexpr std::size_t kMaxDescendants = 256;

// CPU time that the living descendants of a process and the children they have waited for used until now, ns, in steps of 10 ms.
// What detached itself into a session of its own (setsid) is another process, with all it starts. 0 where the kernel does not
// list children (CONFIG_PROC_CHILDREN).
std::int64_t descendants_cpu_ns(const SysRoot& root, std::int64_t process_id);

}  // namespace aaco::collectors
