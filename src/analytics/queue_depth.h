#pragma once

#include <array>
#include <cstdint>
#include <vector>

// The number of launched but unfinished kernels of a device over time.
namespace aaco::analytics::trace_time {

struct QueueDepth {
  std::int64_t origin_ns = 0;
  std::int64_t bucket_ns = 0;
  std::vector<double> depth;  // mean of each bucket, starting at origin_ns; empty: no kernel has a known launch
  double mean = 0;            // over the whole time
  double peak = 0;            // highest bucket
  bool operator==(const QueueDepth&) const = default;
};

// Constant memory: when the time outgrows the buckets, pairs of buckets are merged.
class QueueDepthFold {
 public:
  static constexpr std::size_t kBuckets = 512;

  // A kernel that was in the queue or ran from `launched_ns` to `end_ns`. In about the order of time: what was launched before
  // the first one counts from its launch on.
  void add(std::int64_t launched_ns, std::int64_t end_ns);
  [[nodiscard]] QueueDepth finish();

 private:
  void settle();
  void widen();

  bool started_ = false;
  std::int64_t origin_ns_ = 0, last_ns_ = 0;
  std::int64_t width_ns_ = 1024;
  std::array<double, kBuckets> held_ns_{};            // kernel time in each bucket, as far as settled
  std::array<std::int64_t, kBuckets + 1> changes_{};  // of the number of kernels that cover a whole bucket
};

}  // namespace aaco::analytics::trace_time
