#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/gaps.h"
#include "analytics/trace_time.h"

// What keeps a GPU from computing, determined from its trace alone.
namespace aaco::analytics::bottleneck {

enum class GpuLimit : std::uint8_t { none, compute, communication, copy, launch, waiting, warmup, held };
std::string_view to_string(GpuLimit limit);

// A limit must take at least this share of the span (our judgement); otherwise the device is busy computing.
inline constexpr double kMinLimitShare = 0.2;

struct GpuLimitShares {
  double compute = 0;        // compute kernels run
  double communication = 0;  // exposed collectives
  double copy = 0;           // exposed copies on the device
  double launch = 0;         // idle, waiting for the next kernel's launch
  double waiting = 0;        // idle for any other reason: host late, synchronisation, no work
  double held = 0;           // idle, the next work launched and held back on the device
  double warmup = 0;         // idle for what does not recur: code loaded or compiled, libraries initialised
};

struct GpuLimitFinding {
  GpuLimit limit = GpuLimit::none;  // none: no device work
  double confidence = 0;            // 0..1: margin of the first over the second
  GpuLimitShares shares;            // of the span
  std::vector<std::string> evidence;
};

// Copy-bound means that the device copied: a copy call that only waits for a kernel counts as idle or compute
// time. Idle time below the threshold of `gaps`, and gaps up to gaps::kLaunchGapNs with a late host, are attributed to
// launches if kernels are mostly microkernels, otherwise to waiting.
GpuLimitFinding find_limit(const trace_time::DeviceTime& time, const std::map<gaps::Cause, gaps::CauseSum>& gaps);

}  // namespace aaco::analytics::bottleneck
