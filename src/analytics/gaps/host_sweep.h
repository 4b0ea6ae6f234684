#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analytics/gap_causes.h"

namespace aaco::analytics::gaps {

// The time of one thread by the innermost of its open frames. Call order: open() in order of start, then move_to(), take().
class HostSweep {
 public:
  HostSweep(std::int64_t from_ns, std::int64_t until_ns, CauseIndex idle) : now_(from_ns), until_(until_ns), idle_(idle) {}

  void open(const HostFrame& frame) {
    move_to(frame.start_ns);
    if (frame.end_ns <= now_) return;
    const Open* outer = around(frame);
    const bool part = outer != nullptr && frame.gives_way_to && outer->cause == *frame.gives_way_to;
    const bool covered = part || (frame.weak && outer != nullptr && !outer->weak);
    const Open open{frame.end_ns, covered ? outer->cause : frame.cause, part ? outer->weak : frame.weak && !covered};
    stack_.push_back(open);
  }
  void move_to(std::int64_t time_ns) {
    time_ns = std::min(time_ns, until_);
    while (!stack_.empty() && stack_.back().end_ns <= time_ns) {
      spend(stack_.back().end_ns);
      stack_.pop_back();
    }
    spend(time_ns);
  }
  // Time in any frame, so far.
  [[nodiscard]] std::int64_t covered_ns() const { return covered_ns_; }
  // Times of at least 10 us in no frame, as start and end, the first million of them; empty unless watch_idle() was called.
  void watch_idle() { watches_ = true; }
  [[nodiscard]] const std::vector<std::pair<std::int64_t, std::int64_t>>& idle() const { return idle_times_; }
  std::vector<HostShare> take() {
    std::stable_sort(shares_.begin(), shares_.end(), [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
    return std::move(shares_);
  }

 private:
  struct Open {
    std::int64_t end_ns = 0;
    CauseIndex cause = 0;  // of this time: an enclosing frame's, where that is stronger
    bool weak = false;
  };
  // The innermost open frame that it lies in. Clocks of runtime calls and of frames differ by a microsecond, and times are
  // rounded: a frame that ends in this one's first half is not around it.
  [[nodiscard]] const Open* around(const HostFrame& frame) const {
    const std::int64_t half_ns = frame.start_ns + (frame.end_ns - frame.start_ns) / 2;
    const auto outer = std::find_if(stack_.rbegin(), stack_.rend(), [&](const Open& open) { return open.end_ns >= half_ns; });
    return outer == stack_.rend() ? nullptr : &*outer;
  }
  void spend(std::int64_t time_ns) {
    if (time_ns <= now_) return;
    const CauseIndex cause = stack_.empty() ? idle_ : stack_.back().cause;
    if (!stack_.empty())
      covered_ns_ += time_ns - now_;
    else if (watches_ && time_ns - now_ >= kMinIdleNs && idle_times_.size() < kMaxIdle)
      idle_times_.emplace_back(now_, time_ns);
    auto place = std::find_if(shares_.begin(), shares_.end(), [&](const HostShare& share) { return share.cause == cause; });
    if (place == shares_.end()) place = shares_.insert(shares_.end(), {cause, 0});
    place->time_ns += time_ns - now_;
    now_ = time_ns;
  }

  static constexpr std::int64_t kMinIdleNs = 10'000;
  static constexpr std::size_t kMaxIdle = 1'000'000;
  std::int64_t now_, until_;
  std::int64_t covered_ns_ = 0;
  bool watches_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> idle_times_;
  CauseIndex idle_;
  std::vector<Open> stack_;
  std::vector<HostShare> shares_;
};

}  // namespace aaco::analytics::gaps
