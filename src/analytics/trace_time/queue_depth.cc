#include "analytics/queue_depth.h"

#include <algorithm>

namespace aaco::analytics::trace_time {

// Turns the counted changes into time.
void QueueDepthFold::settle() {
  std::int64_t kernels = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    kernels += changes_[bucket];
    held_ns_[bucket] += static_cast<double>(kernels) * static_cast<double>(width_ns_);
  }
  changes_.fill(0);
}

void QueueDepthFold::widen() {
  settle();
  for (std::size_t bucket = 0; bucket < kBuckets / 2; ++bucket)
    held_ns_[bucket] = held_ns_[2 * bucket] + held_ns_[2 * bucket + 1];
  std::fill(held_ns_.begin() + kBuckets / 2, held_ns_.end(), 0.0);
  width_ns_ *= 2;
}

void QueueDepthFold::add(std::int64_t launched_ns, std::int64_t end_ns) {
  if (!started_) {
    started_ = true;
    origin_ns_ = last_ns_ = launched_ns;
  }
  std::int64_t from = 0, to = 0;
  if (__builtin_sub_overflow(std::max(launched_ns, origin_ns_), origin_ns_, &from) ||
      __builtin_sub_overflow(end_ns, origin_ns_, &to) || to <= from)
    return;
  if (to > INT64_MAX / 4) return;  // no time that a trace can hold
  last_ns_ = std::max(last_ns_, end_ns);
  const auto buckets = static_cast<std::int64_t>(kBuckets);
  while (to > width_ns_ * buckets) widen();
  const auto first = static_cast<std::size_t>(from / width_ns_);
  const auto last = static_cast<std::size_t>((to - 1) / width_ns_);
  if (first == last) {
    held_ns_[first] += static_cast<double>(to - from);
    return;
  }
  held_ns_[first] += static_cast<double>(static_cast<std::int64_t>(first + 1) * width_ns_ - from);
  held_ns_[last] += static_cast<double>(to - static_cast<std::int64_t>(last) * width_ns_);
  ++changes_[first + 1];
  --changes_[last];
}

QueueDepth QueueDepthFold::finish() {
  QueueDepth out;
  if (!started_ || last_ns_ <= origin_ns_) return out;
  settle();
  const std::int64_t span = last_ns_ - origin_ns_;
  out.origin_ns = origin_ns_;
  out.bucket_ns = width_ns_;
  double sum = 0;
  for (std::int64_t begin = 0; begin < span; begin += width_ns_) {
    const double held = held_ns_[static_cast<std::size_t>(begin / width_ns_)];
    const double depth = held / static_cast<double>(std::min(width_ns_, span - begin));
    out.depth.push_back(depth);
    out.peak = std::max(out.peak, depth);
    sum += held;
  }
  out.mean = sum / static_cast<double>(span);
  return out;
}

}  // namespace aaco::analytics::trace_time
