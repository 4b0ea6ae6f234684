#include "runner/loop.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace aaco::runner {
namespace {

stats::StoppingOptions fixed(std::int64_t iterations) {
  stats::StoppingOptions options;
  options.iterations = iterations;
  return options;
}

LoopOptions quick() {
  LoopOptions options;
  options.warmup_iterations = 3;
  options.block_max_calls = 5;
  return options;
}

// Counts how it is switched, and checks that it is told in turn.
class Switch final : public Instrument {
 public:
  void resume() override {
    EXPECT_FALSE(on);
    on = true;
    ++times;
  }
  void pause() override {
    EXPECT_TRUE(on);
    on = false;
  }
  bool on = false;
  int times = 0;
};

core::Result<LoopResult> run(const LoopOptions& options, std::int64_t iterations, Instrument* instrument,
                             const std::function<core::Status()>& once, const std::atomic<bool>& stop) {
  stats::StoppingRule rule(fixed(iterations));
  rule.reserve();
  return measure(once, options, rule, instrument, stop);
}

const std::atomic<bool> kNever{false};
core::Status fine() { return {}; }

TEST(Loop, MeasuresAsManyAsAskedAfterWarmUp) {
  std::int64_t calls = 0;
  const auto result = run(
      quick(), 17, nullptr,
      [&]() -> core::Status {
        ++calls;
        return {};
      },
      kNever);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->warmup.size(), 3U);
  EXPECT_EQ(result->plain.size(), 17U);
  EXPECT_TRUE(result->instrumented.empty());
  EXPECT_EQ(calls, 20);
  EXPECT_FALSE(result->interrupted);
}

TEST(Loop, CallsFollowOneAnotherInTime) {
  const auto result = run(quick(), 10, nullptr, fine, kNever);
  ASSERT_TRUE(result);
  for (std::size_t i = 1; i < result->plain.size(); ++i)
    EXPECT_GE(result->plain[i].start_ns, result->plain[i - 1].start_ns + result->plain[i - 1].duration_ns);
}

TEST(Loop, AlternatesBlocksWithAndWithoutTelemetry) {
  Switch instrument;
  std::int64_t calls_with = 0;
  const auto once = [&]() -> core::Status {
    calls_with += instrument.on ? 1 : 0;
    return {};
  };
  const auto result = run(quick(), 20, &instrument, once, kNever);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->plain.size(), 20U);
  EXPECT_EQ(static_cast<std::int64_t>(result->instrumented.size()), calls_with);
  EXPECT_EQ(instrument.times, 4);
  std::set<std::int64_t> plain_blocks, instrumented_blocks;
  for (const auto& call : result->plain) plain_blocks.insert(call.block);
  for (const auto& call : result->instrumented) instrumented_blocks.insert(call.block);
  EXPECT_EQ(plain_blocks, (std::set<std::int64_t>{0, 3, 4, 7}));  // ABBA: plain, with, with, plain, ...
  EXPECT_EQ(instrumented_blocks, (std::set<std::int64_t>{1, 2, 5, 6}));
}

TEST(Loop, StopsAndReturnsErrors) {
  int calls = 0;
  const auto result = run(
      quick(), 10, nullptr,
      [&]() -> core::Status {
        if (++calls < 6) return {};
        return core::fail(core::ErrorCode::exhausted, "out of memory");
      },
      kNever);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, core::ErrorCode::exhausted);
  EXPECT_EQ(calls, 6);
}

TEST(Loop, StopKeepsMeasuredIterations) {
  std::atomic<bool> stop{false};
  int calls = 0;
  const auto result = run(
      quick(), 1000, nullptr,
      [&]() -> core::Status {
        stop = ++calls == 8;
        return {};
      },
      stop);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->plain.size(), 5U);
  EXPECT_EQ(result->stop_reason, "stopped by the user");
}

TEST(Loop, WarmUpIsBoundedIfNeverStationary) {
  LoopOptions options;
  options.warmup_min_time = core::Nanoseconds(0);
  options.warmup_max_iterations = 40;
  const auto result = run(options, 5, nullptr, fine, kNever);
  ASSERT_TRUE(result);
  EXPECT_LE(result->warmup.size(), 40U);
  EXPECT_FALSE(result->warmup_reason.empty());
}

TEST(Loop, AllowsZeroWarmUp) {
  LoopOptions options = quick();
  options.warmup_iterations = 0;
  const auto result = run(options, 5, nullptr, fine, kNever);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->warmup.empty());
  EXPECT_EQ(result->plain.size(), 5U);
}

}  // namespace
}  // namespace aaco::runner
