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
  std::int64_t missed_deadlines = 0;     // a sample that began more than a period late
  core::Nanoseconds cpu_time{0};         // of the sampling thread
  core::Nanoseconds wall_time{0};        // while not paused
};

// Samples a set of collectors from a thread of its own. Rows are kept in memory until stop() hands them over, so that
// nothing is written while something is measured.
class SamplingLoop {
 public:
  // Opens the collectors; one that cannot be opened is left out, with its reason in accounts().
  SamplingLoop(std::vector<std::unique_ptr<Collector>> collectors, SamplingOptions options);
  ~SamplingLoop();

  // Begins sampling at once. pause() returns when no sample is under way and none will begin until resume().
  core::Status start();
  void pause();
  void resume();
  // Ends the thread and hands every row to `sink`. Idempotent.
  void stop(trace::Sink& sink);

  [[nodiscard]] SamplingAccount sampling() const;  // after stop
  [[nodiscard]] std::vector<trace::Account> accounts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::collectors
