#include "hooks/clock_map.h"

#include <algorithm>
#include <cmath>

namespace aaco::hooks {

void ClockMap::add(std::uint64_t raw, std::int64_t monotonic_ns) {
  if (!pairs_.empty() && (raw <= pairs_.back().raw || monotonic_ns <= pairs_.back().ns)) return;
  pairs_.push_back({raw, monotonic_ns});
  if (pairs_.size() > kMax) pairs_.pop_front();
}

std::int64_t ClockMap::to_ns(std::uint64_t raw) const {
  auto above =
      std::upper_bound(pairs_.begin(), pairs_.end(), raw, [](std::uint64_t value, const Pair& pair) { return value < pair.raw; });
  above = std::clamp(above, pairs_.begin() + 1, pairs_.end() - 1);
  const Pair& low = *(above - 1);
  const double rate = static_cast<double>(above->ns - low.ns) / static_cast<double>(above->raw - low.raw);
  const double distance = raw >= low.raw ? static_cast<double>(raw - low.raw) : -static_cast<double>(low.raw - raw);
  return low.ns + std::llround(distance * rate);
}

}  // namespace aaco::hooks
