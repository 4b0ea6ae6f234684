#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace aaco::laboratory::faults {

// Writes a model that does what `model` does and then, on the mean of its first floating-point output, a chain of `count`
// operators that take one tensor (`op_type` and Neg in turn), as a further output. unsupported where there is no such output.
core::Status append_tiny_operators(const std::string& model, std::int64_t count, const std::string& op_type,
                                   const std::string& path);

}  // namespace aaco::laboratory::faults
