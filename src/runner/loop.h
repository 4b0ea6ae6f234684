#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "stats/stopping.h"
#include "stats/warmup.h"

namespace aaco::runner {

// One timed call.
struct TimedCall {
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t duration_ns = 0;
  std::int64_t block = 0;
};

// An observer that may disturb the run; the loop switches it on and off between blocks, never within one.
class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual void resume() = 0;
  virtual void pause() = 0;
};

// Notified of each block of calls: the only points where reading counters costs no call any time.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  virtual void begin_block() = 0;
  // `start_ns` and `end_ns` are those of the first and the last call.
  virtual void end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns,
                         std::int64_t calls) = 0;
  // Warm-up has ended.
  virtual void begin_measuring() {}
  // After end_block(), with the calls of a block without the instrument.
  virtual void after_block(std::span<const TimedCall> /*calls*/) {}
};

struct LoopOptions {
  std::optional<std::int64_t> warmup_iterations;  // fixed; empty: until the series is stationary
  std::int64_t warmup_max_iterations = 5000;
  core::Nanoseconds warmup_max_time{20'000'000'000};
  core::Nanoseconds warmup_min_time{300'000'000};  // shorter series cannot be tested for stationarity
  core::Nanoseconds block_time{250'000'000};       // target length of an interleaved block
  std::int64_t block_min_calls = 5;
  std::optional<std::int64_t> block_max_calls;  // so that a fixed number of iterations still makes several blocks
};

struct LoopResult {
  std::vector<TimedCall> warmup;
  std::vector<TimedCall> plain;         // blocks without the instrument: the measurement
  std::vector<TimedCall> instrumented;  // blocks with it on; empty without one
  stats::WarmupVerdict warmup_verdict;
  std::string warmup_reason;  // why warm-up ended
  std::string stop_reason;    // why measuring ended
  bool interrupted = false;   // `stop` was set
};

// Calls `once` until warm, then measures until `rule` is satisfied by the plain calls. With an instrument, blocks with and
// without it alternate in ABBA order, so that drift of the machine affects both. A call is two clock reads around `once`;
// nothing is allocated in between. An error of `once` stops the loop and is returned.
core::Result<LoopResult> measure(const std::function<core::Status()>& once, const LoopOptions& options, stats::StoppingRule& rule,
                                 Instrument* instrument, const std::atomic<bool>& stop, BlockObserver* blocks = nullptr);

}  // namespace aaco::runner
