#pragma once

#include <cstdint>

#include "core/clock.h"

namespace aaco::workflows {

// Added to each call to see what a comparison can detect: a share of the call's own time, a fixed time, or both.
struct InjectedDelay {
  double ratio = 0;
  std::int64_t ns = 0;
  bool operator==(const InjectedDelay&) const = default;

  // Spins after a call that ran from `start_ns` to now; returns the time when the delayed call ends.
  [[nodiscard]] std::int64_t end_of_call(std::int64_t start_ns) const {
    std::int64_t end_ns = core::monotonic_ns();
    const auto added = static_cast<std::int64_t>(ratio * static_cast<double>(end_ns - start_ns)) + ns;
    if (added > 0)
      for (const std::int64_t until = end_ns + added; end_ns < until;) end_ns = core::monotonic_ns();
    return end_ns;
  }
};

}  // namespace aaco::workflows
