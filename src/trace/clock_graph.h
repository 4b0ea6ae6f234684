#pragma once

#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "core/json.h"
#include "core/result.h"

namespace aaco::trace {

// Two clocks read at the same instant, as nearly as the machine allows.
struct ClockPair {
  core::TimePoint a;
  core::TimePoint b;
  std::int64_t uncertainty_ns = 0;  // half the time the reading took
  bool operator==(const ClockPair&) const = default;
};

// Converts between clocks by the pairs recorded at both ends of a run: linear between two pairs of the same clocks (so drift is
// followed), constant offset beyond them. Goes through other clocks where there is no direct pair.
class ClockGraph {
 public:
  void add(const ClockPair& pair) { pairs_.push_back(pair); }
  // Fails with invalid_input where no chain of pairs joins the two clocks.
  [[nodiscard]] core::Result<core::TimePoint> convert(core::TimePoint point, core::ClockId to) const;
  [[nodiscard]] const std::vector<ClockPair>& pairs() const { return pairs_; }

 private:
  std::vector<ClockPair> pairs_;
};

// Reads `from` and CLOCK_MONOTONIC together, the best of several tries.
ClockPair read_clock_pair(const core::Clock& clock, core::ClockId from);

core::Json to_json(const ClockGraph& graph);
core::Result<ClockGraph> clock_graph_from_json(const core::Json& document);

}  // namespace aaco::trace
