#include <algorithm>
#include <map>

#include "analytics/gaps.h"

// What other threads of the process did while the launching one waited.
namespace aaco::analytics::gaps {
namespace {

constexpr std::int64_t kWakeUpNs = 200'000;  // from the work that was awaited to the end of the wait (our own judgement)
constexpr std::int64_t kWakeUpShare = 10;    // or this part of the wait

std::int64_t overlap_of(std::int64_t start_ns, std::int64_t end_ns, std::int64_t from_ns, std::int64_t until_ns) {
  return std::max<std::int64_t>(0, std::min(end_ns, until_ns) - std::max(start_ns, from_ns));
}

}  // namespace

// Calls of other threads that hold up the whole process.
std::optional<HostShare> GapExplainer::elsewhere(const Gap& gap, std::int64_t thread_id) const {
  std::map<CauseIndex, std::int64_t> times;
  for (const Call& call : calls_)
    if (call.cause && call.rank == gap.rank && call.thread_id != thread_id &&
        (call.is_overhead() || book_->at(*call.cause).any_thread))
      times[*call.cause] += overlap_of(call.start_ns, call.end_ns, gap.start_ns, gap.end_ns);
  const auto most =
      std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::int64_t length = gap.end_ns - gap.start_ns;
  if (most == times.end() || 2 * most->second < length) return std::nullopt;
  return HostShare{most->first, std::min(most->second, length)};
}

// The launching thread waits for another one: what that did for most of the wait, if it ended when the wait did. Work that goes
// on, or had long ended, was not what the thread waited for.
std::optional<GapExplainer::Awaited> GapExplainer::awaited(const Gap& gap, std::int64_t thread_id, const HostShare& wait) const {
  if (!book_->at(wait.cause).waits) return std::nullopt;
  const Call* waiting = evidence_of(gap, thread_id, wait);
  if (waiting == nullptr) return std::nullopt;
  const std::int64_t from_ns = std::max(waiting->start_ns, gap.start_ns), until_ns = std::min(waiting->end_ns, gap.end_ns);
  const std::int64_t slack_ns = std::max(kWakeUpNs, (until_ns - from_ns) / kWakeUpShare);
  std::map<std::int64_t, std::vector<HostFrame>> threads;
  for (const Call& call : calls_)
    if (call.cause && call.rank == gap.rank && call.thread_id != thread_id && !call.is_overhead() &&
        overlap_of(call.start_ns, call.end_ns, from_ns, until_ns) > 0)
      threads[call.thread_id].push_back(frame_of(call, gap));
  Awaited found;
  for (auto& [other, frames] : threads) {
    sort_frames(frames);
    for (const HostShare& share : host_time(frames, from_ns, until_ns, book_->own().unknown)) {
      const NamedCause& cause = book_->at(share.cause);
      if (cause.weak || cause.waits || share.cause == book_->own().sleep || share.cause == book_->own().synchronisation) continue;
      if (2 * share.time_ns < until_ns - from_ns || share.time_ns <= found.share.time_ns) continue;
      const Call* last = nullptr;
      for (const Call& call : calls_)
        if (call.rank == gap.rank && call.thread_id == other && call.cause && frame_of(call, gap).cause == share.cause &&
            overlap_of(call.start_ns, call.end_ns, from_ns, until_ns) > 0 && (last == nullptr || call.end_ns >= last->end_ns))
          last = &call;
      if (last == nullptr || last->end_ns < until_ns - slack_ns || last->end_ns > until_ns + slack_ns) continue;
      found = {{share.cause, wait.time_ns}, last};
    }
  }
  return found.call == nullptr ? std::nullopt : std::optional(found);
}

}  // namespace aaco::analytics::gaps
