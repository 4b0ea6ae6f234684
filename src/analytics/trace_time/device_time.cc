#include <algorithm>
#include <bit>

#include "analytics/trace_time.h"

namespace aaco::analytics::trace_time {
namespace {

std::size_t bin_of(std::int64_t duration_ns) {
  const auto width = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(duration_ns)));
  return std::min(width == 0 ? 0 : width - 1, std::tuple_size_v<DurationBins> - 1);
}

bool is_kernel(WorkKind kind) { return kind == WorkKind::compute || kind == WorkKind::collective; }

}  // namespace

// Spends the time up to `to_ns` on the sets of classes that were active: each class is active until its latest end.
void DeviceTimeFold::advance(std::int64_t to_ns) {
  while (now_ns_ < to_ns) {
    std::int64_t next = to_ns;
    std::size_t active = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      if (until_ns_[c] <= now_ns_) continue;
      active |= std::size_t{1} << c;
      next = std::min(next, until_ns_[c]);
    }
    in_[active] += next - now_ns_;
    now_ns_ = next;
  }
}

void DeviceTimeFold::count_kernel(const Work& work, std::int64_t duration_ns) {
  ++time_.kernel_count;
  time_.kernel_sum_ns += duration_ns;
  if (duration_ns < kMicrokernelNs) ++time_.microkernel_count;
  ++time_.duration_bins[bin_of(duration_ns)];
  if (work.kind == WorkKind::collective) {
    ++time_.collective_count;
    time_.collective_sum_ns += duration_ns;
  }
  if (!work.launch) return;
  time_.linked_sum_ns += duration_ns;
  ++time_.launch.kernel_count;
  time_.launch.api_ns += std::max<std::int64_t>(0, work.launch->end_ns - work.launch->start_ns);
  time_.launch.queue_ns += std::max<std::int64_t>(0, work.start_ns - work.launch->end_ns);
  time_.launch.execution_ns += duration_ns;
}

// False where the convention leaves the work out.
bool DeviceTimeFold::count(const Work& work) {
  const std::int64_t duration = work.end_ns - work.start_ns;
  if (is_kernel(work.kind)) {
    if (!work.launch) ++time_.orphan_count;
    if (!work.launch && !convention_.orphans) return false;
    count_kernel(work, duration);
    return true;
  }
  if (work.kind == WorkKind::memset) ++time_.memset_count;
  if (work.kind == WorkKind::memset && !convention_.memset) return false;
  ++time_.copy_count;
  if (duration < kMicrokernelNs) ++time_.microcopy_count;
  time_.copy_sum_ns += duration;
  return true;
}

std::optional<Idle> DeviceTimeFold::add(const Work& work) {
  if (work.end_ns < work.start_ns || !is_time(work.start_ns) || !is_time(work.end_ns)) {
    ++time_.invalid_count;
    return std::nullopt;
  }
  if (!count(work)) return std::nullopt;
  if (!started_) {
    started_ = true;
    now_ns_ = time_.first_ns = time_.last_ns = work.start_ns;
    until_ns_.fill(work.start_ns);
  }
  if (work.start_ns < now_ns_) ++time_.out_of_order_count;
  std::optional<Idle> idle;
  if (work.start_ns > time_.last_ns) {
    idle = Idle{time_.last_ns, work.start_ns};
    if (work.start_ns - time_.last_ns > time_.longest_idle_ns) {
      time_.longest_idle_ns = work.start_ns - time_.last_ns;
      time_.work_before_longest_idle = time_.work_count;
    }
    if (is_kernel(work.kind) && work.launch && work.launch->end_ns > time_.last_ns)
      time_.launch_lost_ns += work.start_ns - time_.last_ns;
  }
  ++time_.work_count;
  advance(work.start_ns);
  const Class which = work.kind == WorkKind::compute      ? kComputeClass
                      : work.kind == WorkKind::collective ? kCollectiveClass
                                                          : kCopyClass;
  until_ns_[which] = std::max(until_ns_[which], work.end_ns);
  time_.last_ns = std::max(time_.last_ns, work.end_ns);

  StreamTime& stream = time_.streams[work.stream];
  ++stream.work_count;
  stream.sum_ns += work.end_ns - work.start_ns;
  auto [until, fresh] = stream_until_ns_.try_emplace(work.stream, work.start_ns);
  stream.busy_ns += std::max<std::int64_t>(0, work.end_ns - std::max(until->second, work.start_ns));
  until->second = std::max(until->second, work.end_ns);
  return idle;
}

DeviceTime DeviceTimeFold::finish() {
  if (!started_) return time_;
  advance(time_.last_ns);
  constexpr std::size_t kCompute = 1U << kComputeClass;
  constexpr std::size_t kCollective = 1U << kCollectiveClass;
  constexpr std::size_t kCopy = 1U << kCopyClass;
  const auto sum_where = [this](std::size_t any_of, std::size_t none_of) {
    std::int64_t sum = 0;
    for (std::size_t active = 0; active < in_.size(); ++active)
      if ((active & any_of) != 0 && (active & none_of) == 0) sum += in_[active];
    return sum;
  };
  time_.span_ns = time_.last_ns - time_.first_ns;
  time_.idle_ns = in_[0];
  time_.busy_ns = sum_where(kCompute | kCollective | kCopy, 0);
  time_.active_ns = sum_where(kCompute | kCollective, 0);
  time_.compute_ns = sum_where(kCompute, 0);
  time_.copy_ns = sum_where(kCopy, 0);
  time_.collective_ns = sum_where(kCollective, 0);
  time_.exposed_copy_ns = sum_where(kCopy, kCompute);
  time_.exposed_collective_ns = sum_where(kCollective, kCompute);
  return time_;
}

}  // namespace aaco::analytics::trace_time
