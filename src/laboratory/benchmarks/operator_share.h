#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace aaco::laboratory::benchmarks {

// The part of all nodes' time that nodes of `op_type` took, by ONNX Runtime's profile (its JSON text): what a runtime puts around
// an operator (changes of layout) is the rest. The first `skip` executions of each node are warm-up. Empty where the profile has
// no such node.
std::optional<double> operator_share(std::string_view profile, const std::string& op_type, int skip);

}  // namespace aaco::laboratory::benchmarks
