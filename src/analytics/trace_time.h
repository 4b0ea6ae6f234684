#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analytics/queue_depth.h"
#include "trace/metric.h"

// Breakdown of a device's time, computed in one pass over its work in time order with constant memory.
namespace aaco::analytics::trace_time {

enum class WorkKind : std::uint8_t { compute, collective, copy, memset };

// What is counted. The default counts all device work; the convention is printed with the numbers.
struct Convention {
  bool orphans = true;  // kernels whose launch is not in the trace
  bool memset = true;
  bool operator==(const Convention&) const = default;
};

// A kernel shorter than this costs less than launching it (feature C1).
inline constexpr std::int64_t kMicrokernelNs = 10'000;

// The API call that launched a piece of work.
struct LaunchSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Times beyond this (73 years either way) are invalid; differences of valid times fit 64 bits.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 61;
constexpr bool is_time(std::int64_t ns) { return -kFarthestNs <= ns && ns <= kFarthestNs; }

// Each process numbers its streams for itself.
struct StreamKey {
  std::int32_t rank = 0;
  std::int64_t stream = 0;
  auto operator<=>(const StreamKey&) const = default;
};

struct Work {
  WorkKind kind = WorkKind::compute;
  StreamKey stream;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<LaunchSpan> launch;
};

struct StreamTime {
  std::int64_t work_count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t busy_ns = 0;  // union
  bool operator==(const StreamTime&) const = default;
};

// Lengths of kernels: bin b holds those of 2^b .. 2^(b+1) - 1 ns; bin 0 also holds 0.
using DurationBins = std::array<std::int64_t, 44>;

// Times of the three steps of a launch, summed over the kernels with a known launch call.
struct LaunchSplit {
  std::int64_t kernel_count = 0;
  std::int64_t api_ns = 0;        // in the call
  std::int64_t queue_ns = 0;      // from the call's return to the kernel's start; 0 where it started before
  std::int64_t execution_ns = 0;  // in the kernel
  bool operator==(const LaunchSplit&) const = default;
};

struct DeviceTime {
  std::int64_t kernel_count = 0;
  std::int64_t kernel_sum_ns = 0;
  std::int64_t microkernel_count = 0;
  std::int64_t orphan_count = 0;  // counted even if the convention excludes them elsewhere
  std::int64_t linked_sum_ns = 0;
  std::int64_t copy_count = 0;
  std::int64_t copy_sum_ns = 0;      // copies and memsets
  std::int64_t microcopy_count = 0;  // of copy_count, shorter than kMicrokernelNs
  std::int64_t memset_count = 0;
  std::int64_t collective_count = 0;
  std::int64_t collective_sum_ns = 0;

  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;  // first start to last end
  std::int64_t span_ns = 0;
  std::int64_t busy_ns = 0;  // union of all work
  std::int64_t idle_ns = 0;
  std::int64_t active_ns = 0;      // union of kernels
  std::int64_t compute_ns = 0;     // union of kernels that are not collectives
  std::int64_t copy_ns = 0;        // union of copies and memsets
  std::int64_t collective_ns = 0;  // union
  std::int64_t exposed_copy_ns = 0;
  std::int64_t exposed_collective_ns = 0;
  std::int64_t launch_lost_ns = 0;  // idle, while the call that launched the next work had not returned

  std::int64_t work_count = 0;       // kernels, copies and memsets that are counted
  std::int64_t longest_idle_ns = 0;  // longest gap between them
  std::int64_t work_before_longest_idle = 0;

  std::int64_t invalid_count = 0;       // ends before it starts, or has an invalid time: skipped
  std::int64_t out_of_order_count = 0;  // starts before the preceding work: clipped to that start; 0 for a sorted table
  LaunchSplit launch;
  DurationBins duration_bins{};
  std::map<StreamKey, StreamTime> streams;
  bool operator==(const DeviceTime&) const = default;
};

// An idle interval, ended by the added work.
struct Idle {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const Idle&) const = default;
};

// Time of one device. Call order: add() in order of start, then finish().
class DeviceTimeFold {
 public:
  explicit DeviceTimeFold(Convention convention = {}) : convention_(convention) {}
  // Returns the gap ended by this work, if any.
  std::optional<Idle> add(const Work& work);
  [[nodiscard]] DeviceTime finish();

 private:
  enum Class : std::uint8_t { kComputeClass, kCollectiveClass, kCopyClass, kClasses };
  void advance(std::int64_t to_ns);
  bool count(const Work& work);
  void count_kernel(const Work& work, std::int64_t duration_ns);

  Convention convention_;
  DeviceTime time_;
  bool started_ = false;
  std::int64_t now_ns_ = 0;
  std::array<std::int64_t, kClasses> until_ns_{};              // latest end of each class so far
  std::array<std::int64_t, std::size_t{1} << kClasses> in_{};  // time by set of classes that were active
  std::map<StreamKey, std::int64_t> stream_until_ns_;
};

// The published metrics of one device (data/metrics/gpu_time.yaml, launch.yaml). Ratios without a denominator are omitted, and
// so are launch metrics if the trace has no API calls (`has_api_calls`).
trace::Metrics device_metrics(const DeviceTime& time, std::int64_t device, bool has_api_calls);
// Launch step times and queue depth; empty if no kernel has a known launch.
trace::Metrics launch_metrics(const LaunchSplit& split, const QueueDepth& queue, std::int64_t device);

}  // namespace aaco::analytics::trace_time
