#pragma once

#include <memory>

#include "core/result.h"
#include "laboratory/faults.h"

namespace aaco::laboratory::faults {

// Processes forked from this one that disturb it. They die with it (the kernel sees to that) and with their owner.
core::Result<std::unique_ptr<Injection>> start_neighbours(const Fault& fault);

}  // namespace aaco::laboratory::faults
