#pragma once

#include <memory>

#include "laboratory/faults.h"

namespace aaco::laboratory::faults {

// Limits put on this process: its CPUs, or a control group of its own that is removed again.
core::Result<std::unique_ptr<Injection>> set_limit(const Fault& fault, const FaultWorld& world);

}  // namespace aaco::laboratory::faults
