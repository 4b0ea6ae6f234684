#include "collectors/ebpf/interval_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <vector>

namespace aaco::collectors::ebpf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t kProcess = 100;

WireEvent event(std::uint64_t time_ns, WireKind kind) {
  WireEvent made{};
  made.time_ns = time_ns;
  made.kind = kind;
  made.process = kProcess;
  made.call = wire_call_none;
  return made;
}

// `out` leaves, `in` takes the CPU; a thread of 0 is none of the tree.
WireEvent switched(std::uint64_t time_ns, std::uint32_t out, std::uint32_t in, std::uint32_t state = 0, std::int32_t call = -1) {
  WireEvent made = event(time_ns, wire_switch);
  made.thread = out != 0 ? out : 9999;
  made.process = out != 0 ? kProcess : 0;
  made.other_thread = in != 0 ? in : 8888;
  made.value = in != 0 ? kProcess : 0;
  made.state = state;
  made.call = call;
  made.cpu = 1;
  return made;
}

WireEvent woken(std::uint64_t time_ns, std::uint32_t thread, std::uint32_t waker = 0, std::uint32_t state = 0) {
  WireEvent made = event(time_ns, wire_wakeup);
  made.thread = thread;
  made.other_thread = waker;
  made.state = state;
  return made;
}

WireEvent moved(std::uint64_t time_ns, std::uint32_t thread, std::uint32_t cpu) {
  WireEvent made = event(time_ns, wire_migrate);
  made.thread = thread;
  made.value = cpu;
  return made;
}

// One text a row: "7 run 100+50", with detail, call and the other thread behind.
std::vector<std::string> rows_of(const std::vector<WireEvent>& events, std::int64_t begin = 0, std::int64_t end = 1000) {
  trace::MemorySink sink;
  IntervalBuilder builder(
      sink, [](std::uint32_t, std::uint32_t thread) { return "t" + std::to_string(thread); },
      [](std::uint32_t number) { return "irq " + std::to_string(number); });
  builder.begin_window(begin);
  for (const WireEvent& each : events) builder.add(each);
  builder.end_window(end);
  std::vector<std::string> texts;
  for (const auto& row : sink.rows<trace::SchedEventRow>()) {
    EXPECT_EQ(sink.text(row.thread_name), "t" + std::to_string(row.thread_id));
    std::string text = std::to_string(row.thread_id) + " " + std::string(sink.text(row.kind)) + " " +
                       std::to_string(row.time_ns) + "+" + std::to_string(row.duration_ns);
    for (const trace::NameId name : {row.detail, row.call})
      if (name.value != 0) text += " " + std::string(sink.text(name));
    if (row.other_thread_id) text += " by " + std::to_string(*row.other_thread_id);
    if (row.bytes) text += " " + std::to_string(*row.bytes) + "B";
    texts.push_back(text);
  }
  EXPECT_EQ(builder.rows(), static_cast<std::int64_t>(texts.size()));
  return texts;
}

TEST(IntervalBuilder, SleepWakeWaitRun) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, 1, SYS_futex), woken(300, 7, 8), switched(350, 0, 7), switched(400, 7, 0, 1)}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+200 sleep futex by 8", "7 run_queue 300+50 woken by 8", "7 run 350+50",
                          "7 off_cpu 400+600 sleep"));
}
TEST(IntervalBuilder, PreemptedKeepsWaitingForACpu) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, wire_state_preempted), switched(180, 0, 7)}),
              ElementsAre("7 run 0+100", "7 run_queue 100+80 preempted by 8888", "7 run 180+820"));
}
TEST(IntervalBuilder, SwitchedOutWhileRunnableIsPreempted) {
  EXPECT_THAT(rows_of({switched(100, 7, 8), switched(200, 8, 7)}),
              ElementsAre("7 run 0+100", "8 run_queue 0+100", "8 run 100+100", "7 run_queue 100+100 preempted by 8",
                          "7 run 200+800", "8 run_queue 200+800 preempted by 7"));
}
TEST(IntervalBuilder, YieldIsAYield) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, 0, SYS_sched_yield), switched(150, 0, 7)}),
              ElementsAre("7 run 0+100", "7 run_queue 100+50 yielded by 8888", "7 run 150+850"));
}
TEST(IntervalBuilder, PreemptedWhileGoingToSleepIsReady) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, wire_state_preempted | 1)}),
              ElementsAre("7 run 0+100", "7 run_queue 100+900 preempted by 8888"));
}
TEST(IntervalBuilder, NewThreadBeginsInTheQueue) {
  EXPECT_THAT(rows_of({woken(200, 9, 7, wire_state_new), switched(230, 0, 9)}),
              ElementsAre("9 run_queue 200+30 new by 7", "9 run 230+770"));
}
TEST(IntervalBuilder, WokenBeforeItLeftChangesNothing) {
  EXPECT_THAT(rows_of({switched(10, 0, 7), woken(50, 7, 8), switched(100, 7, 0, 1)}),
              ElementsAre("7 run_queue 0+10", "7 run 10+90", "7 off_cpu 100+900 sleep"));
}
TEST(IntervalBuilder, WokenWhileItWaitsChangesNothing) {
  EXPECT_THAT(rows_of({switched(100, 7, 0), woken(150, 7), switched(200, 0, 7)}),
              ElementsAre("7 run 0+100", "7 run_queue 100+100 preempted by 8888", "7 run 200+800"));
}
TEST(IntervalBuilder, AnInterruptWakesWithoutAName) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, 1, SYS_clock_nanosleep), woken(300, 7)}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+200 sleep clock_nanosleep", "7 run_queue 300+700 woken"));
}
TEST(IntervalBuilder, FirstSeenAsItWakes) {
  EXPECT_THAT(rows_of({woken(300, 7, 8)}), ElementsAre("7 off_cpu 0+300 by 8", "7 run_queue 300+700 woken by 8"));
}
TEST(IntervalBuilder, ExitClosesOpenIntervals) { EXPECT_THAT(rows_of({switched(100, 7, 0, 0x80)}), ElementsAre("7 run 0+100")); }
TEST(IntervalBuilder, LostWakeupIsOneLongSleep) {
  EXPECT_THAT(rows_of({switched(100, 7, 0, 1), switched(500, 0, 7)}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+400 sleep", "7 run 500+500"));
}
TEST(IntervalBuilder, LostSwitchOutAddsNoSecondRun) {
  EXPECT_THAT(rows_of({switched(100, 0, 7), switched(500, 0, 7), switched(600, 7, 0, 1)}),
              ElementsAre("7 run_queue 0+100", "7 run 100+500", "7 off_cpu 600+400 sleep"));
}
TEST(IntervalBuilder, MissedSwitchInUsesSchedulerAccounting) {
  WireEvent left = switched(500, 7, 0, 1);
  left.duration_ns = 40;
  EXPECT_THAT(rows_of({switched(100, 7, 0), left}),
              ElementsAre("7 run 0+100", "7 run_queue 100+360 preempted by 8888", "7 run 460+40", "7 off_cpu 500+500 sleep"));
  EXPECT_THAT(rows_of({switched(100, 7, 0, 1), woken(300, 7), left}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+200 sleep", "7 run_queue 300+160 woken", "7 run 460+40",
                          "7 off_cpu 500+500 sleep"));
  EXPECT_THAT(rows_of({left}), ElementsAre("7 run 460+40", "7 off_cpu 500+500 sleep"));  // what it did before is not known
}
TEST(IntervalBuilder, MissedSwitchInIsNotBeforeLastSwitchOfTheCpu) {
  EXPECT_THAT(rows_of({switched(100, 7, 9), switched(300, 9, 0, 1), switched(500, 7, 0, 1)}, 0, 500),
              ElementsAre("7 run 0+100", "9 run_queue 0+100", "9 run 100+200", "7 run_queue 100+200 preempted by 9",
                          "7 run 300+200", "9 off_cpu 300+200 sleep"));
}
TEST(IntervalBuilder, MissedWakeupUsesSchedulerAccounting) {
  WireEvent before = switched(100, 7, 0, 1), left = switched(600, 7, 0, 1);
  before.wait_ns = 1000;
  left.wait_ns = 1080;
  EXPECT_THAT(rows_of({before, switched(500, 0, 7), left}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+320 sleep", "7 run_queue 420+80 woken", "7 run 500+100",
                          "7 off_cpu 600+400 sleep"));
  left.duration_ns = 50;  // nor was the taking
  EXPECT_THAT(rows_of({before, left}), ElementsAre("7 run 0+100", "7 off_cpu 100+370 sleep", "7 run_queue 470+80 woken",
                                                   "7 run 550+50", "7 off_cpu 600+400 sleep"));
  left.wait_ns = 5000;  // more than there was time for
  EXPECT_THAT(rows_of({before, switched(500, 0, 7), left}),
              ElementsAre("7 run 0+100", "7 run_queue 100+400 woken", "7 run 500+100", "7 off_cpu 600+400 sleep"));
}
TEST(IntervalBuilder, RecordedWaitsAreNotMissing) {
  WireEvent before = switched(100, 7, 0, 1), preempted = switched(600, 7, 0), left = switched(900, 7, 0, 1);
  before.wait_ns = 1000;
  preempted.wait_ns = 1100;
  left.wait_ns = 1300;
  EXPECT_THAT(rows_of({before, woken(400, 7), switched(500, 0, 7), preempted, switched(800, 0, 7), left}),
              ElementsAre("7 run 0+100", "7 off_cpu 100+300 sleep", "7 run_queue 400+100 woken", "7 run 500+100",
                          "7 run_queue 600+200 preempted by 8888", "7 run 800+100", "7 off_cpu 900+100 sleep"));
}
TEST(IntervalBuilder, IgnoresImplausibleSchedulerAccounting) {
  WireEvent left = switched(500, 7, 0, 1);
  left.duration_ns = 450;
  EXPECT_THAT(rows_of({switched(100, 7, 0), left}), ElementsAre("7 run 0+100", "7 run 100+400", "7 off_cpu 500+500 sleep"));
  left.duration_ns = UINT64_MAX;
  EXPECT_THAT(rows_of({switched(100, 7, 0), left}), ElementsAre("7 run 0+100", "7 run 100+400", "7 off_cpu 500+500 sleep"));
}
TEST(IntervalBuilder, BackwardTimeAddsNoRow) {
  EXPECT_THAT(rows_of({switched(500, 7, 0, 1), woken(400, 7), switched(600, 0, 7)}, 0, 600),
              ElementsAre("7 run 0+500", "7 run_queue 400+200 woken"));
}
TEST(IntervalBuilder, MigrationsNameTheirSourceCpu) {
  EXPECT_THAT(rows_of({moved(50, 7, 1), switched(100, 7, 0, 1), moved(200, 7, 0)}, 0, 200),
              ElementsAre("7 migrate 50+0", "7 run 0+100", "7 migrate 200+0 cpu1", "7 off_cpu 100+100 sleep"));
}
TEST(IntervalBuilder, OffCpuReasons) {
  EXPECT_EQ(off_cpu_reason(1, true), "sleep");
  EXPECT_EQ(off_cpu_reason(2, true), "disk_sleep");
  EXPECT_EQ(off_cpu_reason(2 | wire_state_iowait, true), "io");
  EXPECT_EQ(off_cpu_reason(4, true), "stopped");
  EXPECT_EQ(off_cpu_reason(8, true), "traced");
  EXPECT_EQ(off_cpu_reason(0x402, true), "idle");
  EXPECT_EQ(off_cpu_reason(0x8000, false), "frozen");
  EXPECT_EQ(off_cpu_reason(0x2001, true), "sleep") << "a call that a freezer may prolong";
#if defined(__x86_64__)
  EXPECT_EQ(off_cpu_reason(0x2001, false), "frozen");
#endif
  EXPECT_EQ(off_cpu_reason(1, false), "sleep");
}
TEST(IntervalBuilder, ShortEvents) {
  WireEvent fault = event(10, wire_fault), irq = event(20, wire_irq), timer = event(30, wire_irq), soft = event(40, wire_softirq),
            block = event(50, wire_block);
  for (WireEvent* each : {&fault, &irq, &timer, &soft, &block}) each->thread = 7;
  fault.state = 2;
  irq.state = 24, irq.duration_ns = 5;
  timer.state = WIRE_TIMER, timer.duration_ns = 6;
  soft.state = 3, soft.duration_ns = 7;
  block.state = 1, block.value = 4096, block.duration_ns = 9;
  EXPECT_THAT(rows_of({fault, irq, timer, soft, block}),
              ElementsAre("7 page_fault 10+0 write", "7 irq 20+5 irq 24", "7 irq 30+6 local_timer", "7 softirq 40+7 net_rx",
                          "7 block_io 50+9 write 4096B"));
}
TEST(IntervalBuilder, AGpuJobIsQueuedAndThenRuns) {
  WireEvent job = event(500, wire_gpu_job);
  job.thread = 7;
  job.duration_ns = 100;
  job.value = 50;
  EXPECT_THAT(rows_of({job}), ElementsAre("7 gpu_job 450+50 queued", "7 gpu_job 500+100 running"));
  job.value = 0;
  EXPECT_THAT(rows_of({job}), ElementsAre("7 gpu_job 500+100 running"));
  job.value = 501;  // before the machine began: not true
  EXPECT_THAT(rows_of({job}), ElementsAre("7 gpu_job 500+100 running"));
}
TEST(IntervalBuilder, FencesBuffersAndMemoryOfAGpu) {
  WireEvent fence = event(500, wire_gpu_fence);
  fence.thread = 7;
  fence.duration_ns = 100;
  WireEvent wait = fence;
  wait.state = wire_state_waited;
  EXPECT_THAT(rows_of({fence, wait}), ElementsAre("7 gpu_fence 500+100 pending", "7 gpu_fence 500+100 waited"));
  WireEvent buffer = event(500, wire_gpu_buffer);
  buffer.thread = 7;
  buffer.value = 4096;
  WireEvent gone = buffer;
  gone.state = wire_state_freed;
  EXPECT_THAT(rows_of({buffer, gone}), ElementsAre("7 gpu_buffer 500+0 created 4096B", "7 gpu_buffer 500+0 freed 4096B"));
  WireEvent memory = event(500, wire_gpu_memory);
  memory.thread = 7;
  memory.duration_ns = 30;
  memory.value = 8192;
  memory.state = 2;
  WireEvent back = memory;
  back.duration_ns = back.value = 0;  // a buffer that was made before the recording
  back.state = wire_state_freed | 1;
  EXPECT_THAT(rows_of({memory, back}), ElementsAre("7 gpu_memory 500+30 allocated: vram 8192B", "7 gpu_memory 500+0 freed: gtt"));
}
TEST(IntervalBuilder, DomainsOfGpuMemory) {
  EXPECT_EQ(gpu_domain_name(0), "system");
  EXPECT_EQ(gpu_domain_name(7), "driver's own");
  EXPECT_EQ(gpu_domain_name(wire_domain_unknown), "unknown");
}
TEST(IntervalBuilder, UnknownNumbers) {
  EXPECT_EQ(soft_interrupt_name(99), "");
  EXPECT_EQ(block_operation_name(99), "");
  EXPECT_EQ(call_name(65535), "syscall 65535");
  WireEvent strange = event(10, wire_kinds);
  strange.thread = 7;
  EXPECT_THAT(rows_of({strange}), IsEmpty());
  strange.kind = 60000;
  EXPECT_THAT(rows_of({strange}), IsEmpty());
}
TEST(IntervalBuilder, WindowsClipRows) {
  trace::MemorySink sink;
  IntervalBuilder builder(
      sink, [](std::uint32_t, std::uint32_t) { return ""; }, [](std::uint32_t) { return ""; });
  builder.begin_window(0);
  builder.add(switched(100, 7, 0, 1));
  builder.end_window(200);
  builder.begin_window(1000);
  builder.add(woken(1300, 7));
  builder.end_window(1400);
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const auto& row : sink.rows<trace::SchedEventRow>()) spans.emplace_back(row.time_ns, row.duration_ns);
  EXPECT_THAT(spans, ElementsAre(std::pair(0, 100), std::pair(100, 100), std::pair(1000, 300), std::pair(1300, 100)));
}

// 100 processes start and end each second for ten minutes; the last switch of every third is lost.
TEST(IntervalBuilder, MemoryIsBoundedWhereProcessesComeAndGo) {
  trace::MemorySink sink;
  IntervalBuilder builder(
      sink, [](std::uint32_t, std::uint32_t) { return "sh"; }, [](std::uint32_t) { return ""; });
  builder.begin_window(0);
  constexpr std::uint64_t kStep = 10'000'000;
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < 60'000; ++i) {
    const std::uint64_t at = i * kStep;
    const std::uint32_t id = 1000 + i;
    builder.add(woken(at + 1, id, 7, wire_state_new));
    builder.add(switched(at + 2, 0, id));
    WireEvent exit = event(at + 50, wire_exit);
    exit.thread = id;
    builder.add(exit);
    if (i % 3 != 0) builder.add(switched(at + 60, id, 0, 0x80));
    most = std::max(most, builder.threads());
  }
  EXPECT_LE(most, 110U);
}
TEST(IntervalBuilder, AThreadThatGetsTheIdOfAnEndedOneStays) {
  trace::MemorySink sink;
  IntervalBuilder builder(
      sink, [](std::uint32_t, std::uint32_t) { return "sh"; }, [](std::uint32_t) { return ""; });
  builder.begin_window(0);
  WireEvent exit = event(10, wire_exit);
  exit.thread = 7;
  builder.add(switched(1, 0, 7));
  builder.add(exit);
  builder.add(switched(20, 7, 0, 0x80));
  builder.add(woken(30, 7, 5, wire_state_new));
  exit.time_ns = 3'000'000'000;
  exit.thread = 8;
  builder.add(exit);
  EXPECT_EQ(builder.threads(), 1U);
}

}  // namespace
}  // namespace aaco::collectors::ebpf
