#pragma once

#include <string>

namespace aaco::workflows {

// A kernel of a captured graph and what it came from; empty texts: unknown.
struct CapturedLaunch {
  std::string kernel, operator_name, marker;
  bool operator==(const CapturedLaunch&) const = default;
};

}  // namespace aaco::workflows
