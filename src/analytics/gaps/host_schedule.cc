#include "analytics/host_schedule.h"

#include <algorithm>

namespace aaco::analytics::gaps {
namespace {

constexpr double kRecordedShare = 0.9;

}  // namespace

void HostSchedule::append(Thread& thread, State state, std::int64_t start_ns, std::int64_t end_ns) {
  Point point = thread.points.empty() ? Point{start_ns, 0, 0, 0} : thread.points.back();
  start_ns = std::max(start_ns, point.time_ns);
  if (end_ns <= start_ns) return;
  if (thread.points.empty() || start_ns > point.time_ns) {
    point.time_ns = start_ns;
    thread.points.push_back(point);
  }
  const auto length = static_cast<double>(end_ns - start_ns);
  point.time_ns = end_ns;
  point.recorded_ns += length;
  if (state == State::run_queue) point.run_queue_ns += length;
  if (state == State::off_cpu) point.off_cpu_ns += length;
  thread.points.push_back(point);
  if (thread.points.size() <= kMaxPoints) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < thread.points.size(); ++i)
    if (i % 2 == 0 || i + 1 == thread.points.size()) thread.points[kept++] = thread.points[i];
  thread.points.resize(kept);
}

std::optional<HostSchedule::Interval> HostSchedule::add(std::int32_t rank, std::int64_t thread_id, State state,
                                                        std::int64_t start_ns, std::int64_t end_ns) {
  const std::pair key(rank, thread_id);
  auto place = threads_.find(key);
  if (place == threads_.end()) {
    if (threads_.size() >= kMaxThreads) return std::nullopt;
    place = threads_.emplace(key, Thread{}).first;
  }
  Thread& thread = place->second;
  std::optional<Interval> between;
  if (state != State::run) {
    thread.has_waits = true;
  } else if (!thread.has_waits && !thread.points.empty() && thread.points.back().time_ns < start_ns) {
    between = Interval{thread.points.back().time_ns, start_ns};
    append(thread, State::off_cpu, between->start_ns, between->end_ns);
  }
  append(thread, state, start_ns, end_ns);
  return between;
}

HostSchedule::Point HostSchedule::at(const Thread& thread, std::int64_t time_ns) {
  const auto next = std::upper_bound(thread.points.begin(), thread.points.end(), time_ns,
                                     [](std::int64_t time, const Point& point) { return time < point.time_ns; });
  if (next == thread.points.begin()) return thread.points.front();
  const Point& before = *std::prev(next);
  if (next == thread.points.end()) return before;
  const double share = static_cast<double>(time_ns - before.time_ns) / static_cast<double>(next->time_ns - before.time_ns);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {time_ns, between(before.recorded_ns, next->recorded_ns), between(before.run_queue_ns, next->run_queue_ns),
          between(before.off_cpu_ns, next->off_cpu_ns)};
}

std::optional<HostAway> HostSchedule::away(std::int32_t rank, std::int64_t thread_id, std::int64_t start_ns,
                                           std::int64_t end_ns) const {
  const auto place = threads_.find({rank, thread_id});
  if (place == threads_.end() || place->second.points.empty() || end_ns <= start_ns) return std::nullopt;
  const Point begin = at(place->second, start_ns), end = at(place->second, end_ns);
  if (end.recorded_ns - begin.recorded_ns < kRecordedShare * static_cast<double>(end_ns - start_ns)) return std::nullopt;
  return HostAway{static_cast<std::int64_t>(end.run_queue_ns - begin.run_queue_ns),
                  static_cast<std::int64_t>(end.off_cpu_ns - begin.off_cpu_ns)};
}

void HostSchedule::forget_before(std::int64_t time_ns) {
  for (auto& [key, thread] : threads_) {
    const auto first = std::upper_bound(thread.points.begin(), thread.points.end(), time_ns,
                                        [](std::int64_t time, const Point& point) { return time < point.time_ns; });
    const auto old = first - thread.points.begin() - 1;  // the last one before stays, and is moved to only in bulk
    if (old > 64 && 2 * static_cast<std::size_t>(old) > thread.points.size())
      thread.points.erase(thread.points.begin(), thread.points.begin() + old);
  }
}

std::size_t HostSchedule::points() const {
  std::size_t count = 0;
  for (const auto& [key, thread] : threads_) count += thread.points.size();
  return count;
}

}  // namespace aaco::analytics::gaps
