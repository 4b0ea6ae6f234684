#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "laboratory/trace_faults.h"

namespace aaco::laboratory::trace_faults {

struct Insertion {
  std::int64_t at_ns = 0, extra_ns = 0;
};

// New times for old: stretches of the old time take longer, and time is put in at points. Never goes back.
class TimeMap {
 public:
  // `stretches` ascending and apart, each made `factor` times as long; then `extra_ns` put in at each of `points` (ascending).
  TimeMap(const std::vector<Stretch>& stretches, double factor, const std::vector<std::int64_t>& points, std::int64_t extra_ns);
  TimeMap(const std::vector<Stretch>& stretches, double factor, const std::vector<Insertion>& insertions);
  // `after_insertion`: of what starts where time is put in, which comes after it; what ends there came before.
  [[nodiscard]] std::int64_t operator()(std::int64_t time_ns, bool after_insertion) const;

 private:
  struct Knot {
    std::int64_t old_ns = 0;
    double new_ns = 0;  // before what is put in here
    double put_in_ns = 0;
    double slope = 1;  // from here on
  };
  std::vector<Knot> knots_;
};

}  // namespace aaco::laboratory::trace_faults
