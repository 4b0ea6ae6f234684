#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectors/collector.h"

namespace aaco::collectors {

// Processes looked at: what is beyond is not counted.
inline constexpr std::size_t kMaxDescendants = 256;

// The living descendants of a process; what detached itself into a session of its own (setsid) is another process, with all it
// starts. Empty where the kernel does not list children (CONFIG_PROC_CHILDREN).
std::vector<std::int64_t> descendants(const SysRoot& root, std::int64_t process_id);

// CPU time that the living descendants of a process and the children they have waited for used until now, ns, in steps of 10 ms.
std::int64_t descendants_cpu_ns(const SysRoot& root, std::int64_t process_id);

}  // namespace aaco::collectors
