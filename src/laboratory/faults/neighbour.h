#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/result.h"
#include "laboratory/faults.h"

namespace aaco::laboratory::faults {

// Processes forked from this one that disturb it. They die with it (the kernel sees to that) and with their owner.
core::Result<std::unique_ptr<Injection>> start_neighbours(const Fault& fault);

// CPUs this process may run on.
std::vector<int> allowed_cpus();

}  // namespace aaco::laboratory::faults
