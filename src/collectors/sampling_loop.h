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

// Cost and missed deadlines of the sampling loop itself; reported with the results.
struct SamplingAccount {
  std::int64_t samples = 0;
  std::int64_t missed_deadlines = 0;    // deadlines missed by a whole period or more; skipped
  core::Nanoseconds cpu_time{0};        // of the sampling thread
  core::Nanoseconds wall_time{0};       // while not paused
  core::Nanoseconds longest_period{0};  // beyond the asked one, so as to use at most kMaxSamplingShare of a core; 0: never
};

// Samples a set of collectors on a separate thread, at absolute deadlines; less often where samples cost too much CPU time
// (pace.h). Rows are kept in memory until stop() (or drain()) delivers them, so that nothing is written during a measurement.
// Call all members from one thread.
class SamplingLoop {
 public:
  // Opens the collectors; one that fails to open is skipped, with the reason in accounts().
  SamplingLoop(std::vector<std::unique_ptr<Collector>> collectors, SamplingOptions options);
  ~SamplingLoop();

  // Begins sampling at once; invalid_argument for a period below 5 ms. pause() returns when the thread sleeps: no sample is under
  // way and none begins until resume(). Differences restart after a resume, so that no value spans a pause.
  core::Status start();
  void pause();
  void resume();
  // Delivers the rows of full chunks; call it periodically to bound the memory of a long recording.
  void drain(trace::Sink& sink);
  // Stops the thread, closes the collectors and delivers all rows to `sink`. Idempotent.
  void stop(trace::Sink& sink);

  [[nodiscard]] SamplingAccount sampling() const;  // after stop
  [[nodiscard]] std::vector<trace::Account> accounts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::collectors
