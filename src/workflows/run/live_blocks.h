#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/loop.h"
#include "stats/stopping.h"
#include "stats/summary.h"
#include "workflows/live_record.h"
#include "workflows/services.h"

namespace aaco::workflows {

// How far a measurement is; empty where that cannot be known.
struct LiveGoal {
  std::optional<double> ratio;   // done, 0..1
  std::optional<double> left_s;  // until the end
};
// `count` calls that took `elapsed_ns` together, `wall_ns` since measuring began, and the 95 % interval's width over the median.
LiveGoal live_goal(const stats::StoppingOptions& goal, std::int64_t count, std::int64_t elapsed_ns, std::int64_t wall_ns,
                   std::optional<double> interval_ratio);

// Tells viewers and the terminal of each block between the blocks: no call is delayed. Passes everything on to `inner`.
class LiveBlocks final : public runner::BlockObserver {
 public:
  LiveBlocks(runner::BlockObserver& inner, LiveRecord& record, const stats::StoppingOptions& goal, std::string model,
             const Services& services);
  void begin_block() override { inner_.begin_block(); }
  void end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns,
                 std::int64_t calls) override {
    inner_.end_block(number, instrumented, start_ns, end_ns, calls);
  }
  void begin_measuring() override;
  void after_block(std::span<const runner::TimedCall> calls) override;

 private:
  void estimate();

  runner::BlockObserver& inner_;
  LiveRecord& record_;
  stats::StoppingOptions goal_;
  std::string model_;
  const Services& services_;
  std::vector<double> all_, scratch_;
  std::optional<stats::Quantile> median_;
  std::size_t next_estimate_ = 0;
  std::int64_t began_ns_ = 0, elapsed_ns_ = 0;
};

}  // namespace aaco::workflows
