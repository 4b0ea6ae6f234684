#include "analytics/exposed_copies.h"

#include <algorithm>

namespace aaco::analytics::trace_time {

void ExposedCopies::spend(std::int64_t time_ns) {
  const auto count = static_cast<std::int64_t>(open_.size());
  for (const Open& copy : open_) *copy.sum_ns += time_ns / count;
  *open_.front().sum_ns += time_ns % count;
}

void ExposedCopies::advance(std::int64_t to_ns) {
  while (now_ns_ < to_ns && !open_.empty()) {
    std::int64_t next = to_ns;
    if (kernels_until_ns_ > now_ns_) {
      next = std::min(next, kernels_until_ns_);
    } else {
      for (const Open& copy : open_) next = std::min(next, copy.end_ns);
      spend(next - now_ns_);
    }
    now_ns_ = next;
    std::erase_if(open_, [&](const Open& copy) { return copy.end_ns <= now_ns_; });
  }
  now_ns_ = std::max(now_ns_, to_ns);
}

void ExposedCopies::add(const Work& work, const CopyOrigin& origin) {
  if (work.end_ns < work.start_ns || !is_time(work.start_ns) || !is_time(work.end_ns)) return;
  const bool kernel = work.kind == WorkKind::compute || work.kind == WorkKind::collective;
  if (kernel ? !work.launch && !convention_.orphans : work.kind == WorkKind::memset && !convention_.memset) return;
  advance(work.start_ns);
  if (work.kind == WorkKind::compute) kernels_until_ns_ = std::max(kernels_until_ns_, work.end_ns);
  if (kernel || work.end_ns <= now_ns_) return;
  const bool full = sums_.size() >= kOrigins && !sums_.contains(origin);
  open_.push_back({work.end_ns, &sums_[full ? CopyOrigin{origin.kind, {}} : origin]});
}

std::map<CopyOrigin, std::int64_t> ExposedCopies::finish() {
  std::int64_t last = now_ns_;
  for (const Open& copy : open_) last = std::max(last, copy.end_ns);
  advance(last);
  return std::move(sums_);
}

}  // namespace aaco::analytics::trace_time
