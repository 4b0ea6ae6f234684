#include "runner/loop.h"

#include <algorithm>

namespace aaco::runner {
namespace {

using core::Status;

constexpr std::size_t kBlockReserve = 1 << 16;

struct Loop {
  const std::function<Status()>& once;
  const LoopOptions& options;
  const std::atomic<bool>& stop;
  BlockObserver* observer;
  LoopResult result;

  Status call(std::vector<TimedCall>& into, std::int64_t block) const {
    const std::int64_t start = core::monotonic_ns();
    Status status = once();
    const std::int64_t end = core::monotonic_ns();
    if (!status) return status;
    into.push_back({start, end - start, block});
    return {};
  }

  Status warm_up();
  [[nodiscard]] std::int64_t calls_a_block(bool interleaved) const;
  Status block(std::vector<TimedCall>& into, std::int64_t number, std::int64_t calls, stats::StoppingRule* rule);
};

std::vector<double> durations(const std::vector<TimedCall>& calls) {
  std::vector<double> out;
  out.reserve(calls.size());
  for (const TimedCall& call : calls) out.push_back(static_cast<double>(call.duration_ns));
  return out;
}

Status Loop::warm_up() {
  auto& warm = result.warmup;
  warm.reserve(
      static_cast<std::size_t>(std::max<std::int64_t>(options.warmup_iterations.value_or(0), options.warmup_max_iterations)));
  if (options.warmup_iterations) {
    while (static_cast<std::int64_t>(warm.size()) < *options.warmup_iterations && !stop) AACO_TRY(call(warm, 0));
    result.warmup_reason = "fixed by --warmup";
    if (!warm.empty()) result.warmup_verdict = stats::find_warmup_end(durations(warm));
    return {};
  }
  const std::int64_t begin = core::monotonic_ns();
  std::size_t next_test = 10;
  while (!stop) {
    AACO_TRY(call(warm, 0));
    const std::int64_t elapsed = core::monotonic_ns() - begin;
    if (warm.size() >= next_test && elapsed >= options.warmup_min_time.count()) {
      result.warmup_verdict = stats::find_warmup_end(durations(warm));
      if (result.warmup_verdict.stationary) {
        result.warmup_reason =
            "the series is stationary from iteration " + std::to_string(result.warmup_verdict.first_stationary);
        return {};
      }
      next_test = warm.size() + warm.size() / 4 + 1;
    }
    if (static_cast<std::int64_t>(warm.size()) >= options.warmup_max_iterations || elapsed >= options.warmup_max_time.count()) {
      result.warmup_verdict = stats::find_warmup_end(durations(warm));
      result.warmup_reason = result.warmup_verdict.stationary ? "the series is stationary from iteration " +
                                                                    std::to_string(result.warmup_verdict.first_stationary)
                                                              : "the limit was reached before the series became stationary";
      return {};
    }
  }
  result.warmup_reason = "stopped by the user";
  return {};
}

std::int64_t Loop::calls_a_block(bool interleaved) const {
  if (result.warmup.empty()) return options.block_min_calls;
  std::vector<double> recent = durations(result.warmup);
  recent.erase(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(recent.size() / 2));
  std::nth_element(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(recent.size() / 2), recent.end());
  const double median = std::max(1.0, recent[recent.size() / 2]);
  const auto by_time = static_cast<std::int64_t>(static_cast<double>(options.block_time.count()) / median);
  const std::int64_t wanted = std::max(options.block_min_calls, by_time);
  return interleaved && options.block_max_calls ? std::min(wanted, *options.block_max_calls) : wanted;
}

Status Loop::block(std::vector<TimedCall>& into, std::int64_t number, std::int64_t calls, stats::StoppingRule* rule) {
  const std::size_t needed = into.size() + static_cast<std::size_t>(calls);
  if (into.capacity() < needed) into.reserve(std::max(needed + kBlockReserve, into.capacity() * 2));
  const std::size_t first = into.size();
  if (observer != nullptr) observer->begin_block();
  for (std::int64_t i = 0; i < calls && !stop; ++i) {
    AACO_TRY(call(into, number));
    if (rule == nullptr) continue;
    rule->add(into.back().duration_ns);
    if (rule->done()) break;
  }
  if (observer != nullptr && into.size() > first)
    observer->end_block(number, rule == nullptr, into[first].start_ns, into.back().start_ns + into.back().duration_ns,
                        static_cast<std::int64_t>(into.size() - first));
  if (observer != nullptr && rule != nullptr) observer->after_block(std::span(into).subspan(first));
  return {};
}

}  // namespace

core::Result<LoopResult> measure(const std::function<Status()>& once, const LoopOptions& options, stats::StoppingRule& rule,
                                 Instrument* instrument, const std::atomic<bool>& stop, BlockObserver* blocks) {
  Loop loop{once, options, stop, blocks, {}};
  AACO_TRY(loop.warm_up());
  if (blocks != nullptr) blocks->begin_measuring();
  const std::int64_t calls = loop.calls_a_block(instrument != nullptr);
  std::int64_t number = 0;
  for (std::int64_t pair = 0; !rule.done() && !stop; ++pair) {
    const bool plain_first = pair % 2 == 0;
    if (instrument != nullptr && !plain_first) {
      instrument->resume();
      AACO_TRY(loop.block(loop.result.instrumented, number++, calls, nullptr));
      instrument->pause();
    }
    const std::size_t before = loop.result.plain.size();
    AACO_TRY(loop.block(loop.result.plain, number++, calls, &rule));
    const auto done_now = static_cast<std::int64_t>(loop.result.plain.size() - before);
    if (instrument != nullptr && plain_first) {
      instrument->resume();
      AACO_TRY(loop.block(loop.result.instrumented, number++, done_now, nullptr));
      instrument->pause();
    }
  }
  loop.result.interrupted = stop;
  loop.result.stop_reason = stop ? "stopped by the user" : rule.explain();
  return std::move(loop.result);
}

}  // namespace aaco::runner
