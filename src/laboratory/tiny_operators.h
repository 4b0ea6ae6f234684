#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace aaco::laboratory::faults {

// Writes a model that runs `model` and then, on the mean of its first floating-point output, a chain of `count`
// unary operators (`op_type` and Neg alternating), as an additional output. unsupported without such an output.
core::Status append_tiny_operators(const std::string& model, std::int64_t count, const std::string& op_type,
                                   const std::string& path);

}  // namespace aaco::laboratory::faults
