#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aaco::stats {

struct StoppingOptions {
  enum class Kind {
    iterations,  // after `iterations`
    time,        // when the iterations have taken `time_ns` together
    precision,   // when the median's 95 % interval, high - low, is at most `precision_ratio` of the median
  } kind = Kind::iterations;
  std::int64_t iterations = 100;
  std::int64_t time_ns = 10'000'000'000;
  double precision_ratio = 0.01;
  // Whatever the kind:
  std::int64_t minimum_iterations = 1;  // precision looks at no fewer than 20
  std::int64_t maximum_iterations = 100'000;
  std::int64_t maximum_time_ns = 600'000'000'000;
};

enum class StopReason { running, iterations, time, precision, iteration_limit, time_limit };

// When to stop measuring. Call reserve() before the loop, then add() after each iteration until done(). add() does not allocate
// after reserve() (it would throw the measured caches about), and is O(1) amortised: the precision is looked at each time the
// series has grown by a tenth, by selection, not sorting. The interval is that of Summary::p50, with the correlation of values
// taken from the crossings of the median and from batch means, whichever is worse. One thread.
class StoppingRule {
 public:
  explicit StoppingRule(const StoppingOptions& options);

  // Makes room and touches it, so that the loop meets no page fault of ours.
  void reserve();
  void add(std::int64_t duration_ns);
  [[nodiscard]] bool done() const { return reason_ != StopReason::running; }

  [[nodiscard]] StopReason reason() const { return reason_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t elapsed_ns() const { return elapsed_ns_; }
  // Width of the median's interval over the median when it was last looked at; empty for the other kinds, and before that.
  [[nodiscard]] std::optional<double> interval_ratio() const { return interval_ratio_; }
  // One sentence for people: why it stopped, or what it waits for.
  [[nodiscard]] std::string explain() const;

 private:
  void check_precision();
  [[nodiscard]] double correlation_time(std::int64_t median) const;

  StoppingOptions options_;
  StopReason reason_ = StopReason::running;
  std::int64_t count_ = 0;
  std::int64_t elapsed_ns_ = 0;
  std::int64_t next_check_ = 0;
  std::optional<double> interval_ratio_;
  std::vector<std::int64_t> values_;  // the precision rule's only
  std::vector<std::int64_t> scratch_;
};

}  // namespace aaco::stats
