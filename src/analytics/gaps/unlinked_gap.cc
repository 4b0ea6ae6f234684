#include <algorithm>

#include "analytics/gaps.h"

// Gaps of traces whose kernels have no launch call (XLA profiles, kernels beside markers only): which thread launches is unknown.
namespace aaco::analytics::gaps {

// An event of the host that begins about when the device falls idle, fills half of the gap and is over before the next work: the
// innermost with an activity of its own, else the innermost Python function or range, if only one thread has any.
const GapExplainer::Call* GapExplainer::filling(const Gap& gap) const {
  constexpr std::int64_t kEarly = 4, kLate = 20;  // parts of the gap: the host may run ahead a little, clocks differ less
  const std::int64_t length = gap.end_ns - gap.start_ns;
  if (length < kLaunchGapNs) return nullptr;
  const Call* active = nullptr;
  const Call* plain = nullptr;
  bool several = false;
  for (const Call& call : calls_) {
    if (call.rank != gap.rank || call.is_overhead() || call.domain == HostDomain::os) continue;
    if (call.start_ns < gap.start_ns - length / kEarly || call.end_ns > gap.end_ns + length / kLate) continue;
    if (2 * (std::min(call.end_ns, gap.end_ns) - std::max(call.start_ns, gap.start_ns)) < length) continue;
    const auto& own = book_->own();
    if (call.cause && !book_->at(*call.cause).weak && *call.cause != own.synchronisation) {
      if (active == nullptr || call.start_ns >= active->start_ns) active = &call;
    } else if (!call.is_runtime() && (!call.cause || *call.cause == own.python)) {
      several = several || (plain != nullptr && plain->thread_id != call.thread_id);
      if (plain == nullptr || call.start_ns >= plain->start_ns) plain = &call;
    }
  }
  return active != nullptr ? active : several ? nullptr : plain;
}

bool GapExplainer::name_unlinked(const Gap& gap, Explained& out) const {
  const Call* call = gap.launch ? nullptr : filling(gap);
  if (call == nullptr) return false;
  const auto& own = book_->own();
  const bool active = call->cause && !book_->at(*call->cause).weak;
  const std::int64_t overlap = std::min(call->end_ns, gap.end_ns) - std::max(call->start_ns, gap.start_ns);
  const CauseIndex cause = active ? *call->cause : own.host_code;
  out.host = {{cause, overlap}};
  if (const std::int64_t rest = gap.end_ns - gap.start_ns - overlap; rest > 0) out.host.push_back({own.unknown, rest});
  out.host_cause = cause;
  out.host_frame = call->name;
  out.row.host_cause = cause_names_[cause];
  out.row.host_cause_ns = overlap;
  out.row.evidence = call->name;
  out.row.evidence_start_ns = call->start_ns;
  out.row.evidence_end_ns = call->end_ns;
  return true;
}

}  // namespace aaco::analytics::gaps
