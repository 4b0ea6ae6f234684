#include <algorithm>
#include <map>

#include "analytics/gaps.h"

// Which host calls are kept while a device is idle. In a long gap short calls are too many to keep one by one: those of one cause
// that follow each other closely are kept as one call.
namespace aaco::analytics::gaps {

bool GapExplainer::is_wanted(const Call& call, std::int64_t now_ns) const {
  return std::any_of(idlers_.begin(), idlers_.end(), [&](const Idler& idler) {
    if (idler.rank != call.rank || call.end_ns <= idler.since_ns) return false;
    const std::int64_t idle = now_ns - idler.since_ns;
    return idle <= kFineGapNs || call.end_ns - std::max(call.start_ns, idler.since_ns) >= idle / kCoarseness;
  });
}

// Program code with a cause of its own; the times of runtime calls say more than their sum.
bool GapExplainer::may_be_joined(const Call& call) const {
  return call.role == Role::host && call.cause && !book_->at(*call.cause).weak &&
         (call.domain == HostDomain::python || call.domain == HostDomain::cpu_op || call.domain == HostDomain::range);
}

bool GapExplainer::is_in_idle_time(const Call& call) const {
  return std::any_of(idlers_.begin(), idlers_.end(),
                     [&](const Idler& idler) { return idler.rank == call.rank && call.end_ns > idler.since_ns; });
}

void GapExplainer::sweep(std::int64_t now_ns) {
  std::vector<Call> kept;
  std::map<Place, std::size_t> rows;  // of each thread the newest call that may grow
  for (const Call& call : calls_) {
    const bool wanted = is_wanted(call, now_ns);
    if (!may_be_joined(call)) {
      if (wanted) kept.push_back(call);
      continue;
    }
    const auto row = rows.find({call.rank, call.thread_id});
    if (row != rows.end() && !wanted) {
      Call& last = kept[row->second];
      if (call.end_ns <= last.end_ns) continue;
      if (call.cause == last.cause && call.start_ns - last.end_ns <= (call.end_ns - call.start_ns) / kSilenceShare) {
        last.end_ns = call.end_ns;
        continue;
      }
    }
    rows[{call.rank, call.thread_id}] = kept.size();
    kept.push_back(call);
  }
  std::erase_if(kept, [&](const Call& call) { return !is_wanted(call, now_ns); });
  calls_ = std::move(kept);
  sweep_at_ = std::max<std::size_t>(kSweepAt, 2 * calls_.size());
}

}  // namespace aaco::analytics::gaps
