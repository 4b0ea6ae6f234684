#pragma once

#include <cstdint>
#include <string>

namespace aaco::workflows {

// A kernel of a captured graph and what it came from; empty texts: unknown.
struct CapturedLaunch {
  std::string kernel, operator_name, marker;
  std::string shaped_operator, arguments;  // innermost operator that has arguments, and these (JSON)
  std::int64_t shaped_start_ns = 0;        // distinguishes its calls
  std::int32_t graph = 0;                  // captures of different graphs differ
  bool operator==(const CapturedLaunch&) const = default;
};

}  // namespace aaco::workflows
