#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

// Something that observes the run and may disturb it; the loop switches it on and off between blocks, never inside one.
class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual void resume() = 0;
  virtual void pause() = 0;
};

// Hears of each block of calls: the only places where something may be read without a call paying for it.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  virtual void begin_block() = 0;
  // `start_ns` and `end_ns` are those of the first and the last call.
  virtual void end_block(std::int64_t number, bool instrumented, std::int64_t start_ns, std::int64_t end_ns,
                         std::int64_t calls) = 0;
};

struct LoopOptions {
  std::optional<std::int64_t> warmup_iterations;  // fixed; else until the series is stationary
  std::int64_t warmup_max_iterations = 5000;
  core::Nanoseconds warmup_max_time{20'000'000'000};
  core::Nanoseconds warmup_min_time{300'000'000};  // a stationarity test over less sees nothing
  core::Nanoseconds block_time{250'000'000};       // length aimed at for an interleaved block
  std::int64_t block_min_calls = 5;
  std::optional<std::int64_t> block_max_calls;  // so that a fixed number of iterations still makes several blocks
};

struct LoopResult {
  std::vector<TimedCall> warmup;
  std::vector<TimedCall> plain;         // blocks with the instrument paused: the measurement
  std::vector<TimedCall> instrumented;  // blocks with it on; empty without one
  stats::WarmupVerdict warmup_verdict;
  std::string warmup_reason;  // why warm-up ended
  std::string stop_reason;    // why measuring ended
  bool interrupted = false;   // `stop` was set
};

// Calls `once` until warm, then measures until `rule` is done with the plain calls. With an instrument, blocks with and
// without it alternate in the order ABBA, so that a drift of the machine falls on both. A call is two clock reads around `once`;
// nothing is allocated between them. An error of `once` ends the loop and is returned.
core::Result<LoopResult> measure(const std::function<core::Status()>& once, const LoopOptions& options, stats::StoppingRule& rule,
                                 Instrument* instrument, const std::atomic<bool>& stop, BlockObserver* blocks = nullptr);

}  // namespace aaco::runner
