#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/gaps.h"
#include "analytics/trace_time.h"

// What keeps a GPU from computing, told from its trace alone.
namespace aaco::analytics::bottleneck {

enum class GpuLimit : std::uint8_t { none, compute, communication, copy, launch, waiting };
std::string_view to_string(GpuLimit limit);

// A limit is named when it takes at least this share of the span (our own judgement); below it the device is busy computing.
inline constexpr double kMinLimitShare = 0.2;

struct GpuLimitShares {
  double compute = 0;        // compute kernels run
  double communication = 0;  // collectives run and nothing hides them
  double copy = 0;           // copies run on the device and nothing hides them
  double launch = 0;         // idle, and the next kernel's launch was what it waited for
  double waiting = 0;        // idle for any other reason: host late, synchronisation, no work
};

struct GpuLimitFinding {
  GpuLimit limit = GpuLimit::none;  // none: no device work
  double confidence = 0;            // 0..1: how far the first is ahead of the second
  GpuLimitShares shares;            // of the span
  std::vector<std::string> evidence;
};

// Copy-bound means that the device copied: a copy call that only waits for a kernel is idle or compute time, and counts as
// that. Idle time below the threshold of `gaps`, and gaps up to gaps::kLaunchGapNs in which the host was late, are put down to
// launches where kernels are mostly microkernels, else to waiting.
GpuLimitFinding find_limit(const trace_time::DeviceTime& time, const std::map<gaps::Cause, gaps::CauseSum>& gaps);

}  // namespace aaco::analytics::bottleneck
