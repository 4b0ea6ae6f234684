#include <algorithm>

#include "analytics/gaps.h"

// Why one launch call took milliseconds: what the trace proves, or that it does not show it.
namespace aaco::analytics::gaps {
namespace {

// A call that waited for a lock of another thread's call returns this soon after it.
constexpr std::int64_t kLockHandoverNs = 100'000;

bool is_copy_api(std::string_view name) { return name.find("emcpy") != std::string_view::npos; }

}  // namespace

CauseIndex GapExplainer::long_launch_cause(const Gap& gap) const {
  const auto& own = book_->own();
  const NextLaunch& launch = *gap.launch;
  const std::int64_t length = launch.end_ns - launch.start_ns;
  if (launch.is_first && !launch.is_copy) return own.first_use;
  bool locked = false;
  for (const Call& call : calls_) {
    if (!call.cause || call.rank != gap.rank || call.thread_id == launch.thread_id) continue;
    const std::int64_t overlap = std::min(call.end_ns, launch.end_ns) - std::max(call.start_ns, launch.start_ns);
    if (2 * overlap < length) continue;
    const NamedCause& cause = book_->at(*call.cause);
    if (cause.any_thread || call.is_overhead() || (call.is_runtime() && cause.class_id == "warmup")) return *call.cause;
    // A thread that waits for the device holds no lock that a launch needs.
    const bool holds = call.is_runtime() && call.role == Role::host && call.start_ns <= launch.start_ns;
    locked = locked || (holds && call.end_ns <= launch.end_ns && launch.end_ns - call.end_ns <= kLockHandoverNs);
  }
  if (locked) return own.lock;
  // An asynchronous copy from or to pageable memory blocks.
  if (launch.is_copy && is_copy_api(names_.text(launch.api))) return own.synchronous_copy;
  if (gap.busy_since_ns && 2 * (gap.start_ns - std::max(launch.start_ns, *gap.busy_since_ns)) >= length) return own.queue_full;
  return launch.is_graph ? own.graph_launch : own.blocked_launch;
}

void GapExplainer::note_first_launch(std::int32_t rank, std::int64_t start_ns) { first_launches_.emplace(rank, start_ns); }

// Of a launch whose work ran before the gap: the call continued after its kernel had started.
CauseIndex GapExplainer::earlier_launch_cause(const Call& call) const {
  if (is_copy_api(names_.text(call.name))) return book_->own().synchronous_copy;  // as above
  if (first_launches_.contains({call.rank, call.start_ns})) return book_->own().first_use;
  for (const Call& other : calls_) {
    if (!other.cause || other.rank != call.rank || other.thread_id == call.thread_id || !book_->at(*other.cause).any_thread)
      continue;
    if (2 * (std::min(other.end_ns, call.end_ns) - std::max(other.start_ns, call.start_ns)) >= call.end_ns - call.start_ns)
      return *other.cause;
  }
  return book_->own().blocked_launch;
}

}  // namespace aaco::analytics::gaps
