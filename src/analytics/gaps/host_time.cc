#include <algorithm>

#include "analytics/gap_causes.h"

namespace aaco::analytics::gaps {
namespace {

class Sweep {
 public:
  Sweep(std::int64_t from_ns, std::int64_t until_ns, CauseIndex idle) : now_(from_ns), until_(until_ns), idle_(idle) {}

  void open(const HostFrame& frame) {
    move_to(frame.start_ns);
    if (frame.end_ns <= now_) return;
    const bool covered = frame.weak && !stack_.empty() && !stack_.back().weak;
    stack_.push_back({frame.end_ns, covered ? stack_.back().cause : frame.cause, frame.weak && !covered});
  }
  void move_to(std::int64_t time_ns) {
    time_ns = std::min(time_ns, until_);
    while (!stack_.empty() && stack_.back().end_ns <= time_ns) {
      spend(stack_.back().end_ns);
      stack_.pop_back();
    }
    spend(time_ns);
  }
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
  void spend(std::int64_t time_ns) {
    if (time_ns <= now_) return;
    const CauseIndex cause = stack_.empty() ? idle_ : stack_.back().cause;
    auto place = std::find_if(shares_.begin(), shares_.end(), [&](const HostShare& share) { return share.cause == cause; });
    if (place == shares_.end()) place = shares_.insert(shares_.end(), {cause, 0});
    place->time_ns += time_ns - now_;
    now_ = time_ns;
  }

  std::int64_t now_, until_;
  CauseIndex idle_;
  std::vector<Open> stack_;
  std::vector<HostShare> shares_;
};

}  // namespace

std::vector<HostShare> host_time(std::span<const HostFrame> frames, std::int64_t from_ns, std::int64_t until_ns, CauseIndex idle) {
  if (until_ns <= from_ns) return {};
  Sweep sweep(from_ns, until_ns, idle);
  for (const HostFrame& frame : frames) {
    if (frame.start_ns >= until_ns) break;
    if (frame.end_ns > from_ns) sweep.open(frame);
  }
  sweep.move_to(until_ns);
  return sweep.take();
}

}  // namespace aaco::analytics::gaps
