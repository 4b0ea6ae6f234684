#include "workflows/explain/awaited_thread.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

constexpr std::int64_t kCaller = 10, kHolder = 11;

struct Events {
  trace::NameTable names;
  std::vector<trace::IterationRow> iterations{1};
  std::vector<trace::SchedEventRow> rows;

  Events() {
    iterations[0].duration_ns = 10'000'000;
    iterations[0].caller_off_cpu_ns = 3'000'000;
  }
  Events& off(std::int64_t thread, std::int64_t from_us, std::int64_t us, std::string_view call, std::int64_t woken_by = 0) {
    trace::SchedEventRow& row = rows.emplace_back();
    row.kind = names.intern("off_cpu");
    row.detail = names.intern("sleep");
    row.call = names.intern(call);
    row.thread_name = names.intern(thread == kHolder ? "holder" : "");
    row.process_id = kCaller;
    row.thread_id = thread;
    row.time_ns = from_us * 1000;
    row.duration_ns = us * 1000;
    if (woken_by != 0) row.other_thread_id = woken_by;
    return *this;
  }
  [[nodiscard]] std::string told() const { return awaited_thread(iterations, rows, names).value_or(""); }
};

TEST(AwaitedThread, IsNamedWithWhatItSleptIn) {
  EXPECT_EQ(Events().off(kCaller, 1000, 3000, "futex", kHolder).off(kHolder, 500, 3500, "clock_nanosleep").told(),
            "thread 11 'holder' slept 3.00 ms per iteration (clock_nanosleep) while the caller waited for it (futex)");
}
TEST(AwaitedThread, NoneWhereTheCallerSleepsByItself) {
  EXPECT_EQ(Events().off(kCaller, 1000, 3000, "clock_nanosleep").told(), "");
  EXPECT_EQ(Events().off(kHolder, 1000, 3000, "clock_nanosleep").told(), "");
}
TEST(AwaitedThread, NoneWithoutWatchedIterationsOrEvents) {
  EXPECT_EQ(Events().told(), "");
  Events events;
  events.off(kCaller, 1000, 3000, "futex", kHolder).off(kHolder, 500, 3500, "clock_nanosleep");
  events.iterations[0].caller_off_cpu_ns.reset();
  EXPECT_EQ(events.told(), "");
}

}  // namespace
}  // namespace aaco::workflows
