#include <algorithm>

#include "analytics/gaps.h"

// Gaps whose next work had been launched: what held it back on the device.
namespace aaco::analytics::gaps {
namespace {

// A function's thread is woken late, and the device learns of its end late (our own judgement).
constexpr std::int64_t kHandOverNs = 200'000;
constexpr std::int64_t kHandOverShare = 10;  // or this part of the gap

}  // namespace

bool GapExplainer::Candidate::is_held() const {
  if (!gap.launch) return false;
  const std::int64_t held_ns = gap.end_ns - std::max(gap.start_ns, gap.launch->end_ns);
  if (held_ns <= kDispatchNs || 2 * held_ns < gap.end_ns - gap.start_ns) return false;
  // Kernels of a graph follow each other without the host; its first one may take long to start, unless it was told to wait.
  return !gap.launch->is_graph || (hold && !gap.launch->is_inner);
}

// What another thread did while the work was held back, if it ended when that did: the longest event.
const GapExplainer::Call* GapExplainer::host_function_of(const Gap& gap) const {
  const std::int64_t from_ns = std::max(gap.start_ns, gap.launch->end_ns), length = gap.end_ns - from_ns;
  const std::int64_t slack_ns = std::max(kHandOverNs, length / kHandOverShare);
  const Call* found = nullptr;
  std::int64_t longest = 0;
  for (const Call& call : calls_) {
    if (call.rank != gap.rank || call.thread_id == gap.launch->thread_id || call.is_overhead() || call.is_runtime()) continue;
    if (call.end_ns < gap.end_ns - slack_ns || call.end_ns > gap.end_ns + slack_ns) continue;
    const std::int64_t overlap = std::min(call.end_ns, gap.end_ns) - std::max(call.start_ns, from_ns);
    if (2 * overlap < length || overlap < longest) continue;
    longest = overlap;
    found = &call;
  }
  return found;
}

GapExplainer::Held GapExplainer::held_by(const Candidate& candidate) const {
  const auto& own = book_->own();
  const Gap& gap = candidate.gap;
  const HoldCall& hold = *candidate.hold;
  const Evidence call{1, hold.start_ns, hold.end_ns, hold.name};
  switch (hold.hold) {
    case Hold::value: return {own.stream_value, call};
    case Hold::host_function:
      if (const Call* function = host_function_of(gap))
        return {own.host_function, {1, function->start_ns, function->end_ns, function->name}};
      return {own.host_function, call};
    case Hold::event: break;
  }
  // An event stands for what was launched before the wait.
  if (gap.peer && gap.peer->launch_start_ns <= hold.start_ns)
    return {own.peer_device, {1, gap.peer->start_ns, gap.peer->end_ns, gap.peer->name}};
  return {own.stream_event, call};
}

}  // namespace aaco::analytics::gaps
