#include "agent/clock_offset.h"

#include <algorithm>

namespace aaco::agent {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// Two clocks drift apart by at most this: 100 ppm, twice what quartz crystals without any discipline do.
constexpr std::int64_t kDriftNsPerSecond = 100'000;

}  // namespace

// The collector's time at some moment between sending and receiving was in [second, second + 1 s).
void ClockOffset::add(std::int64_t sent_ns, std::int64_t received_ns, std::int64_t second) {
  const std::int64_t low = sent_ns - (second + 1) * kSecondNs;
  const std::int64_t high = received_ns - second * kSecondNs;
  if (known_) {
    const std::int64_t drift = std::max<std::int64_t>(0, received_ns - bounded_at_ns_) / kSecondNs * kDriftNsPerSecond;
    const std::int64_t both_low = std::max(low, low_ns_ - drift), both_high = std::min(high, high_ns_ + drift);
    known_ = both_low <= both_high;
    if (known_) {
      low_ns_ = both_low;
      high_ns_ = both_high;
    } else {
      ++contradictions_;
    }
  }
  if (!known_) {
    low_ns_ = low;
    high_ns_ = high;
    known_ = true;
  }
  bounded_at_ns_ = received_ns;
}

std::optional<std::int64_t> ClockOffset::offset_ns() const {
  return known_ ? std::optional(low_ns_ + (high_ns_ - low_ns_) / 2) : std::nullopt;
}
std::optional<std::int64_t> ClockOffset::uncertainty_ns() const {
  return known_ ? std::optional((high_ns_ - low_ns_) / 2) : std::nullopt;
}

// At the moment when the collector's second changes if the offset is the middle of the interval.
std::int64_t ClockOffset::best_wait_ns(std::int64_t now_ns) const {
  if (!known_) return 0;
  const std::int64_t phase = (now_ns - *offset_ns()) % kSecondNs;
  return kSecondNs - (phase + kSecondNs) % kSecondNs;
}

}  // namespace aaco::agent
