#include <algorithm>

#include "analytics/call_join.h"

namespace aaco::analytics::call_join {
namespace {

Group group_of(const Call& call) { return {call.process_id, call.thread_id, call.function}; }

}  // namespace

Matcher::Matcher(std::vector<Call> traced, std::int64_t tolerance_ns) : traced_(std::move(traced)), tolerance_ns_(tolerance_ns) {
  std::sort(traced_.begin(), traced_.end(), [](const Call& a, const Call& b) {
    return std::tuple(group_of(a), a.start_ns, a.end_ns, a.id) < std::tuple(group_of(b), b.start_ns, b.end_ns, b.id);
  });
  claims_.resize(traced_.size());
  for (std::size_t i = 0; i < traced_.size(); ++i) {
    auto& [first, last] = groups_.try_emplace(group_of(traced_[i]), i, i).first->second;
    last = i + 1;
    threads_.try_emplace({traced_[i].process_id, traced_[i].thread_id}, false);
  }
}

void Matcher::add(const Call& hooked) {
  const auto thread = threads_.find({hooked.process_id, hooked.thread_id});
  if (thread == threads_.end()) return;
  thread->second = true;
  const auto group = groups_.find(group_of(hooked));
  if (group == groups_.end()) return;
  const auto begin = traced_.begin() + static_cast<std::ptrdiff_t>(group->second.first),
             end = traced_.begin() + static_cast<std::ptrdiff_t>(group->second.second);
  const std::int64_t from = hooked.start_ns - tolerance_ns_;
  for (auto at = std::lower_bound(begin, end, from, [](const Call&call, std::int64_t time) { return call.start_ns < time; });
       at != end && at->start_ns <= hooked.end_ns + tolerance_ns_; ++at) {
    if (at->end_ns > hooked.end_ns + tolerance_ns_) continue;
    Claim& claim = claims_[static_cast<std::size_t>(at - traced_.begin())];
    if (at->start_ns >= hooked.start_ns && at->end_ns <= hooked.end_ns) {
      if (claim.inside++ == 0) claim.hooked = hooked.id;
    } else {
      ++claim.near;
      if (claim.inside == 0) claim.hooked = hooked.id;
    }
  }
}

Matcher::Answer Matcher::finish() {
  std::unordered_map<std::uint64_t, std::uint32_t> claimed;
  const auto has_one = [](const Claim& claim) { return claim.inside == 1 || (claim.inside == 0 && claim.near == 1); };
  for (const Claim& claim : claims_)
    if (has_one(claim)) ++claimed[claim.hooked];
  Answer answer;
  for (std::size_t i = 0; i < traced_.size(); ++i) {
    const Call& call = traced_[i];
    const Claim& claim = claims_[i];
    if (has_one(claim) && claimed[claim.hooked] == 1)
      answer.hooked.emplace(call.id, claim.hooked);
    else if (claim.inside + claim.near > 0)
      answer.apart.emplace(call.id, Reason::ambiguous);
    else
      answer.apart.emplace(call.id, threads_.at({call.process_id, call.thread_id}) ? Reason::no_call : Reason::other_thread);
  }
  return answer;
}

}  // namespace aaco::analytics::call_join
