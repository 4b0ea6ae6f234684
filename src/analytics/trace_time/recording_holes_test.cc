#include "analytics/recording_holes.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Trace {
  trace::NameTable names;
  RecordingHoles holes;
  void call(const char* name, std::int64_t start_ms, std::int64_t end_ms, const char* domain = "cpu_op") {
    trace::ApiCallRow row;
    row.name = names.intern(name);
    row.domain = names.intern(domain);
    row.start_ns = start_ms * kMs;
    row.end_ns = end_ms * kMs;
    holes.add(row, names);
  }
  void work(std::int64_t start_ms, std::int64_t end_ms) { holes.add_work(0, start_ms * kMs, end_ms * kMs); }
  [[nodiscard]] std::vector<RecordingHole> found() const { return holes.finish(); }
};

// Two windows of work, from 0 to 10 ms and from 1,000 to 1,010 ms.
void work_twice(Trace& trace) {
  trace.work(1, 9);
  trace.work(1001, 1009);
}

TEST(RecordingHoles, StepNumbersThatJump) {
  Trace trace;
  trace.call("ProfilerStep#4", 0, 10, "annotation");
  trace.call("ProfilerStep#45", 1000, 1010, "annotation");
  work_twice(trace);
  ASSERT_EQ(trace.found().size(), 1U);
  EXPECT_EQ(trace.found()[0], (RecordingHole{0, 10 * kMs, 1000 * kMs, 4, 45}));
  EXPECT_EQ(text_of(trace.found()),
            "2 windows of recording: between them nothing was recorded for 990 ms, and steps 5 to 44 are missing");
}
TEST(RecordingHoles, StepsThatFollowEachOtherAreAProgramThatWaits) {
  Trace trace;
  trace.call("ProfilerStep#4", 0, 10, "annotation");
  trace.call("ProfilerStep#5", 1000, 1010, "annotation");
  work_twice(trace);
  EXPECT_TRUE(trace.found().empty());
}
TEST(RecordingHoles, PythonFramesThatAllEnd) {
  Trace trace;
  trace.call("train.py(1): main", 0, 10, "python");
  trace.call("(no Python frame recorded)", 10, 1000, "python");
  trace.call("train.py(1): main", 1000, 1010, "python");
  work_twice(trace);
  ASSERT_EQ(trace.found().size(), 1U);
  EXPECT_EQ(text_of(trace.found()), "2 windows of recording: between them nothing was recorded for 990 ms");
}
TEST(RecordingHoles, AnOpenFrameIsAProgramThatWaits) {
  Trace trace;
  trace.call("train.py(1): main", 0, 1010, "python");
  trace.call("aten::add", 1, 2);
  trace.call("aten::add", 1000, 1001);
  work_twice(trace);
  EXPECT_TRUE(trace.found().empty());
}
TEST(RecordingHoles, SilenceOfOperatorsAloneProvesNothing) {
  Trace trace;
  trace.call("aten::add", 0, 10);
  trace.call("aten::add", 1000, 1010);
  work_twice(trace);
  EXPECT_TRUE(trace.found().empty());
}
TEST(RecordingHoles, TheProgramSwitchesTheProfilerOff) {
  Trace trace;
  trace.call("cudaLaunchKernel", 0, 9, "cuda_runtime");
  trace.call("cudaProfilerStop", 9, 10, "cuda_runtime");
  trace.call("cudaLaunchKernel", 1000, 1001, "cuda_runtime");
  work_twice(trace);
  EXPECT_EQ(trace.found().size(), 1U);
}
TEST(RecordingHoles, RejectsTimesWithDeviceWork) {
  Trace trace;
  trace.call("ProfilerStep#4", 0, 10, "annotation");
  trace.call("ProfilerStep#45", 1000, 1010, "annotation");
  trace.work(1, 995);
  trace.work(1001, 1009);
  EXPECT_TRUE(trace.found().empty());
}
TEST(RecordingHoles, InvalidTimesAreLeftOut) {
  Trace trace;
  trace.call("ProfilerStep#4", 0, 10, "annotation");
  trace.holes.add_work(0, INT64_MIN, INT64_MAX);
  trace.call("ProfilerStep#99999999999999999999", 1000, 1010, "annotation");
  work_twice(trace);
  EXPECT_TRUE(trace.found().empty());
}

}  // namespace
}  // namespace aaco::analytics::trace_time
