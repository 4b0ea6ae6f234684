#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace aaco::analytics::metrics {

// An execution inside an iteration, already cut to it; end_ns > start_ns.
struct NodeInterval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t thread_id = 0;
};

struct SweptTime {
  std::int64_t union_ns = 0;   // time in which at least one ran
  std::int64_t first_ns = 0;   // first start
  std::int64_t last_ns = 0;    // last end
  std::vector<double> own_ns;  // one an interval; they add up to union_ns
};

// Shares out the time in which intervals run: on one thread the last begun has it (what contains it waits for it), threads that
// run at once share evenly. O(n log n). `intervals` is not empty.
SweptTime sweep(std::span<const NodeInterval> intervals);

}  // namespace aaco::analytics::metrics
