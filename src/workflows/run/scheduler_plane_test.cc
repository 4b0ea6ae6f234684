// The eBPF plane as a run uses it. What needs the kernel's permission skips without it; that nothing is lost without it is
// looked at where there is none.
#include "workflows/run/scheduler_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/clock.h"

namespace aaco::workflows {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<runner::TimedCall> sleeping_calls(SchedulerPlane& plane) {
  constexpr useconds_t kSleepUs = 2000;
  std::vector<runner::TimedCall> calls;
  plane.resume();
  for (int i = 0; i < 5; ++i) {
    const std::int64_t begin = core::monotonic_ns();
    ::usleep(kSleepUs);
    calls.push_back({begin, core::monotonic_ns() - begin, 1});
  }
  plane.pause();
  return calls;
}

TEST(SchedulerPlane, CallsKnowHowLongTheySlept) {
  SchedulerPlane plane(::getpid(), true);
  trace::MemorySink sink;
  trace::SessionManifest manifest;
  const auto calls = sleeping_calls(plane);
  const bool watched = plane.watches();
  const WatchedCalls found = finish_with_calls(plane, calls, ::getpid(), ::gettid(), sink, manifest);
  const auto& sums = found.sums;
  ASSERT_THAT(manifest.accounts, SizeIs(1));
  EXPECT_EQ(manifest.accounts[0].source, "ebpf");
  if (!watched) {
    EXPECT_THAT(sums, IsEmpty());
    EXPECT_EQ(manifest.accounts[0].state, trace::Account::State::unsupported);
    ASSERT_THAT(manifest.warnings, SizeIs(1));
    EXPECT_EQ(manifest.warnings[0].id, "ebpf.unavailable");
    EXPECT_FALSE(manifest.warnings[0].remedy.empty());
    GTEST_SKIP() << "no eBPF here: " << manifest.accounts[0].reason;
  }
  ASSERT_THAT(sums, SizeIs(5));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_GE(sums[i].caller_off_cpu_ns, 1'900'000);
    EXPECT_LE(sums[i].caller_off_cpu_ns + sums[i].caller_run_queue_ns, calls[i].duration_ns);
  }
  const auto* timer = find_metric(found.sleep, "sched.sleep_timer_per_iteration_ns");
  ASSERT_NE(timer, nullptr);
  EXPECT_GE(timer->value, 1'900'000);
}

TEST(SchedulerPlane, AProcessThatCannotBeWatchedIsAReason) {
  SchedulerPlane plane(0, true);
  EXPECT_FALSE(plane.watches());
  trace::MemorySink sink;
  trace::SessionManifest manifest;
  EXPECT_THAT(finish_with_calls(plane, {}, 0, 0, sink, manifest).sums, IsEmpty());
  ASSERT_THAT(manifest.warnings, SizeIs(1));
  EXPECT_EQ(manifest.warnings[0].id, "ebpf.unavailable");
  plane.finish(sink, manifest);
  EXPECT_THAT(manifest.accounts, SizeIs(1)) << "said once";
}

TEST(Instruments, AreSwitchedTogether) {
  struct Counter final : runner::Instrument {
    int on = 0, off = 0;
    void resume() override { ++on; }
    void pause() override { ++off; }
  } first, second;
  Instruments instruments;
  EXPECT_EQ(instruments.get(), nullptr);
  instruments.add(&first);
  instruments.add(&second);
  instruments.get()->resume();
  instruments.get()->pause();
  EXPECT_EQ(first.on + first.off + second.on + second.off, 4);
}

}  // namespace
}  // namespace aaco::workflows
