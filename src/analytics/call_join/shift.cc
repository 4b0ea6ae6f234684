#include <algorithm>
#include <cmath>

#include "analytics/call_join.h"

namespace aaco::analytics::call_join {

std::string_view text_of(Reason reason) {
  switch (reason) {
    case Reason::other_thread: return "on a thread that the hooks did not see";
    case Reason::no_call: return "without a hooked call at that time";
    case Reason::ambiguous: return "with more than one possible call";
    case Reason::other_function: return "launched by a function that the hooks do not record";
    case Reason::no_launch: return "without a launch in the trace";
    case Reason::counts: return "on a stream with another number of launches than kernels";
    case Reason::streams: return "on a stream that could be one of several";
    case Reason::concurrent: return "launched while another thread launched on the same stream";
    case Reason::graph: return "on a stream with graph launches";
    case Reason::clock: return "in a trace whose clock could not be matched";
    case Reason::limit: return "beyond the number that is kept in memory";
  }
  return {};
}

ShiftFinder::ShiftFinder(const std::vector<Call>& traced, std::int64_t expected_ns, std::int64_t rounding_ns)
    : expected_ns_(expected_ns), rounding_ns_(rounding_ns) {
  const std::size_t step = std::max<std::size_t>(1, (traced.size() + kSamples - 1) / kSamples);
  for (std::size_t i = 0; i < traced.size(); i += step) {
    const Call& call = traced[i];
    samples_[{call.process_id, call.thread_id, call.function}].emplace_back(call.start_ns, call.end_ns);
    ++sample_count_;
  }
  for (auto& [group, samples] : samples_) std::sort(samples.begin(), samples.end());
}

void ShiftFinder::add(const Call& hooked) {
  const auto group = samples_.find({hooked.process_id, hooked.thread_id, hooked.function});
  if (group == samples_.end()) return;
  const auto& samples = group->second;
  const std::int64_t from = hooked.start_ns - expected_ns_ - kWindowNs;
  for (auto at = std::lower_bound(samples.begin(), samples.end(), std::pair(from, INT64_MIN)); at != samples.end(); ++at) {
    if (at->first > hooked.end_ns - expected_ns_ + kWindowNs || edges_.size() >= 2 * kMaxIntervals) break;
    const std::int64_t low = hooked.start_ns - at->first - rounding_ns_, high = hooked.end_ns - at->second + rounding_ns_;
    if (high < low) continue;
    edges_.push_back({low, 1});
    edges_.push_back({high, -1});
    durations_.push_back(hooked.end_ns - hooked.start_ns);
  }
}

ShiftFinder::Answer ShiftFinder::finish() {
  Answer answer;
  answer.samples = sample_count_;
  if (edges_.empty()) return answer;
  // Where an interval ends and another begins, both count: ends come last.
  std::sort(edges_.begin(), edges_.end(),
            [](const Edge& a, const Edge& b) { return std::pair(a.at, -a.step) < std::pair(b.at, -b.step); });
  const auto middle = durations_.begin() + std::ssize(durations_) / 2;
  std::nth_element(durations_.begin(), middle, durations_.end());
  const std::int64_t away_ns = std::max<std::int64_t>(*middle, 1);

  struct Stretch {
    std::int64_t low, high;
    int inside;
  };
  std::vector<Stretch> stretches;
  int inside = 0, best = 0;
  for (std::size_t i = 0; i + 1 < edges_.size(); ++i) {
    inside += edges_[i].step;
    if (inside <= 0) continue;
    stretches.push_back({edges_[i].at, edges_[i + 1].at, inside});
    best = std::max(best, inside);
  }
  const auto distance = [&](const Stretch& one) {
    return one.low <= expected_ns_ && expected_ns_ <= one.high
               ? 0
               : std::min(std::abs(one.low - expected_ns_), std::abs(one.high - expected_ns_));
  };
  // Of the best stretches the one that is nearest to what is expected.
  const Stretch* chosen = nullptr;
  for (const Stretch& one : stretches)
    if (one.inside == best && (chosen == nullptr || distance(one) < distance(*chosen))) chosen = &one;
  if (chosen == nullptr) return answer;
  answer.inside = std::min<std::size_t>(static_cast<std::size_t>(best), sample_count_);
  const bool expected = distance(*chosen) <= kNearNs;
  if (static_cast<double>(best) < (expected ? kEnoughExpected : kEnough) * static_cast<double>(sample_count_)) return answer;
  const bool rival = std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& one) {
    return static_cast<double>(one.inside) >= kRival * best &&
           (one.low > chosen->high + away_ns || one.high < chosen->low - away_ns);
  });
  if (rival && !expected) {
    answer.several = true;
    return answer;
  }
  answer.shift_ns = distance(*chosen) == 0 ? expected_ns_ : chosen->low + (chosen->high - chosen->low) / 2;
  return answer;
}

}  // namespace aaco::analytics::call_join
