#pragma once

#include <cstdint>
#include <optional>

namespace aaco::agent {

// The clock of this node minus that of the collector. The collector tells its time in whole seconds only; each answer bounds the
// offset to the second plus the round trip, and answers at different parts of the second narrow it down (intersection of
// intervals). An answer that contradicts the earlier ones means that a clock was set: the estimate starts again.
class ClockOffset {
 public:
  // `sent_ns` and `received_ns` by this node's realtime clock around the question; `second` is the collector's answer.
  void add(std::int64_t sent_ns, std::int64_t received_ns, std::int64_t second);
  // This node's clock was set.
  void forget() { known_ = false; }

  [[nodiscard]] std::optional<std::int64_t> offset_ns() const;       // middle of the interval
  [[nodiscard]] std::optional<std::int64_t> uncertainty_ns() const;  // half its width
  [[nodiscard]] std::int64_t contradictions() const { return contradictions_; }
  // How long to wait after `now_ns` so that the next answer halves the interval.
  [[nodiscard]] std::int64_t best_wait_ns(std::int64_t now_ns) const;

 private:
  bool known_ = false;
  std::int64_t low_ns_ = 0, high_ns_ = 0;
  std::int64_t bounded_at_ns_ = 0;  // received_ns of the last answer
  std::int64_t contradictions_ = 0;
};

}  // namespace aaco::agent
