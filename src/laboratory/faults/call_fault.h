#pragma once

#include <memory>

#include "laboratory/faults.h"

namespace aaco::laboratory::faults {

// Something more in every call: as long as `intensity` times what the calls take without it, which the first ones tell.
core::Result<std::unique_ptr<Injection>> start_call_fault(const Fault& fault);

}  // namespace aaco::laboratory::faults
