#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

// Latencies of both sides over the same bins, which share the range of the inner values of both: a single stall does not flatten
// the rest. The last bin has all beyond.
struct Distributions {
  struct Side {
    std::vector<std::int64_t> count;  // of each bin
    double p50_ns = 0, p90_ns = 0, p99_ns = 0;
    std::int64_t total = 0;
  };
  std::string scope;  // iteration or step
  double low_ns = 0, high_ns = 0;
  Side a, b;
};

// Empty where a side has fewer than kFewestDistributed iterations, or the sides have different scopes.
inline constexpr std::size_t kFewestDistributed = 8;
std::optional<Distributions> distributions_of(const ComparedSide& a, const ComparedSide& b);
core::Json to_json(const Distributions& distributions);

}  // namespace aaco::workflows
