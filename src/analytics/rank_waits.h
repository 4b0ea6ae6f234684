#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aaco::analytics::fleet {

// A collective operation as one rank of a traced job saw it.
struct RankCall {
  std::int32_t rank = 0;
  std::string operation;
  std::int64_t start_ns = 0, end_ns = 0;
};

// Which rank of a traced job arrives last. All ranks leave a collective at the same time, so the last to arrive has the shortest
// call: only durations are compared, and the ranks' clocks need not be joined.
struct LateRank {
  bool cannot_tell = false;
  std::string reason;                // of cannot_tell
  std::optional<std::int32_t> rank;  // empty: no rank is consistently last
  std::string operation;             // where it shows most
  std::int32_t ranks = 0;
  std::int64_t last_count = 0, count = 0;  // instances of the operation
  double late_ns = 0;                      // median over the instances, others' longest call minus its own
  double late_ratio = 0;                   // sum over the instances, of the time observed
  double confidence = 0;                   // one minus the chance that ranks alike look like this
};
LateRank late_rank(std::span<const RankCall> calls);

}  // namespace aaco::analytics::fleet
