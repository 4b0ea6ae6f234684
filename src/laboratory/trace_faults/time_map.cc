#include "laboratory/trace_faults/time_map.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace aaco::laboratory::trace_faults {
namespace {

std::vector<Insertion> equal(const std::vector<std::int64_t>& points, std::int64_t extra_ns) {
  std::vector<Insertion> insertions;
  for (const std::int64_t point : points) insertions.push_back({point, extra_ns});
  return insertions;
}

}  // namespace

TimeMap::TimeMap(const std::vector<Stretch>& stretches, double factor, const std::vector<std::int64_t>& points,
                 std::int64_t extra_ns)
    : TimeMap(stretches, factor, equal(points, extra_ns)) {}

TimeMap::TimeMap(const std::vector<Stretch>& stretches, double factor, const std::vector<Insertion>& insertions) {
  struct Change {
    int open = 0;
    double put_in = 0;
  };
  std::map<std::int64_t, Change> changes;
  for (const Stretch& one : stretches) {
    ++changes[one.start_ns].open;
    --changes[one.end_ns].open;
  }
  for (const Insertion& one : insertions) changes[one.at_ns].put_in += static_cast<double>(one.extra_ns);
  int open = 0;
  for (const auto& [time, change] : changes) {
    Knot knot{time, static_cast<double>(time), change.put_in, 1};
    if (!knots_.empty()) {
      const Knot& last = knots_.back();
      knot.new_ns = last.new_ns + last.put_in_ns + last.slope * static_cast<double>(time - last.old_ns);
    }
    open += change.open;
    knot.slope = open > 0 ? factor : 1;
    knots_.push_back(knot);
  }
}

std::int64_t TimeMap::operator()(std::int64_t time_ns, bool after_insertion) const {
  auto after = std::upper_bound(knots_.begin(), knots_.end(), time_ns,
                                [](std::int64_t time, const Knot& knot) { return time < knot.old_ns; });
  if (after == knots_.begin()) return time_ns;
  const Knot& knot = *std::prev(after);
  double moved = knot.new_ns + knot.slope * static_cast<double>(time_ns - knot.old_ns);
  if (time_ns > knot.old_ns || after_insertion) moved += knot.put_in_ns;
  return static_cast<std::int64_t>(std::llround(moved));
}

}  // namespace aaco::laboratory::trace_faults
