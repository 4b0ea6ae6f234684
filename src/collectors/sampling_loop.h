#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectors/collector.h"
#include "core/units.h"
#include "trace/session.h"

namespace aaco::collectors {

struct SamplingOptions {
  core::Nanoseconds period{10'000'000};  // 5 ms and up
  SysRoot root;
  Target target;
};

// What the loop itself did: its own cost and its missed deadlines are part of the evidence.
struct SamplingAccount {
  std::int64_t samples = 0;
  std::int64_t missed_deadlines = 0;  // deadlines that passed a whole period before their sample could begin; they are skipped
  core::Nanoseconds cpu_time{0};      // of the sampling thread
  core::Nanoseconds wall_time{0};     // while not paused
};

// Samples a set of collectors from a thread of its own, at absolute deadlines. Rows are kept in memory until stop() (or drain())
// hands them over, so that nothing is written while something is measured. All members are called from one thread.
class SamplingLoop {
 public:
  // Opens the collectors; one that cannot be opened is left out, with its reason in accounts().
  SamplingLoop(std::vector<std::unique_ptr<Collector>> collectors, SamplingOptions options);
  ~SamplingLoop();

  // Begins sampling at once; invalid_argument for a period below 5 ms. pause() returns when the thread sleeps: no sample is under
  // way and none begins until resume(). After a resume differences start anew, so that no value covers a pause.
  core::Status start();
  void pause();
  void resume();
  // Hands over the rows of the chunks that are full so far; called now and then it bounds the memory of a long recording.
  void drain(trace::Sink& sink);
  // Ends the thread, closes the collectors and hands every row to `sink`. Idempotent.
  void stop(trace::Sink& sink);

  [[nodiscard]] SamplingAccount sampling() const;  // after stop
  [[nodiscard]] std::vector<trace::Account> accounts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::collectors
