#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "agent/clock_offset.h"
#include "agent/spool.h"
#include "core/clock.h"
#include "core/result.h"

namespace aaco::agent {

// Where rows go; tests have their own.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // Rows of row_text(), each with the time of the collector at its end. Fails with io or timed_out where it is away.
  virtual core::Status insert(std::string rows) = 0;
  // The collector's clock, whole seconds since 1970.
  virtual core::Result<std::int64_t> now_s() = 0;
};

struct SenderCounts {
  std::int64_t sent_rows = 0, failures = 0;
  std::string last_error;  // empty: the last try succeeded
};

// Moves rows from the spool to the collector, oldest first, and estimates the offset of its clock. While the collector is away it
// asks less and less often, up to every kMaxPauseNs. Rows are removed from the spool only once they are stored there: a
// process that is killed in between sends them again, and they count once.
class Sender {
 public:
  static constexpr std::int64_t kMaxPauseNs = 300'000'000'000;

  Sender(Receiver& receiver, Spool& spool, const core::Clock& clock) : receiver_(receiver), spool_(spool), clock_(clock) {}
  // One step, at most one batch; returns whether more rows wait to be sent at once. Blocks while the collector does.
  bool step();
  // When step() has something to do again, by the monotonic clock; rows may come earlier.
  [[nodiscard]] std::int64_t next_step_ns() const { return std::max(next_try_ns_, next_question_ns_); }
  // Once more, whatever the pause: before the agent ends.
  void last_try();
  // The node's clock was set.
  void forget_clock();

  [[nodiscard]] std::optional<std::int64_t> clock_offset_ns() const;
  [[nodiscard]] std::optional<std::int64_t> clock_uncertainty_ns() const;
  [[nodiscard]] SenderCounts counts() const;

 private:
  core::Status ask_time();
  core::Status send_batch();
  void pause_after(const core::Error& error);

  Receiver& receiver_;
  Spool& spool_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;
  ClockOffset offset_;
  SenderCounts counts_;
  std::int64_t next_try_ns_ = 0, pause_ns_ = 0, next_question_ns_ = 0;  // by the monotonic clock
};

}  // namespace aaco::agent
