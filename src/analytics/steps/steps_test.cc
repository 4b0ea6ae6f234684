#include "analytics/steps.h"

#include <gtest/gtest.h>

namespace aaco::analytics::steps {
namespace {

class StepTest : public testing::Test {
 protected:
  void range(const char* domain, const std::string& name, std::int64_t start, std::int64_t end) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.start_ns = start;
    row.end_ns = end;
    finder_.add_call(row);
  }
  void kernel(const std::string& name, std::int64_t start) {
    trace::KernelRow row;
    row.name = names_.intern(name);
    row.start_ns = start;
    row.end_ns = start + 5;
    row.correlation_id = launch_;
    finder_.add_kernel(row);
  }
  void kernels(const std::vector<std::string>& pattern, int times) {
    for (int i = 0; i < times * static_cast<int>(pattern.size()); ++i)
      kernel(pattern[static_cast<std::size_t>(i) % pattern.size()], i * 10);
  }
  std::uint64_t launch_ = 0;
  trace::NameTable names_;
  StepFinder finder_{names_};
};

TEST_F(StepTest, ProfilerStepsComeFirst) {
  kernels({"a", "b", "c", "d", "e"}, 10);
  range("annotation", "ProfilerStep#0", 0, 100);
  range("annotation", "ProfilerStep#0", 0, 100);  // the device's copy
  range("annotation", "ProfilerStep#1", 100, 210);
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::profiler_step);
  ASSERT_EQ(steps.iterations.size(), 2u);
  EXPECT_EQ(steps.iterations[1].duration_ns, 110);
  EXPECT_EQ(names_.text(steps.iterations[0].phase), "step");
}
TEST_F(StepTest, RejectsRangesOfTheHostAlone) {
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) kernel("jacobi", i * 100 + 70 + 8 * k);
    range("marker", "load_mesh", i * 100, i * 100 + 69);
    range("marker", "solve", i * 100 + 69, i * 100 + 99);
  }
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.explanation.find("load_mesh"), std::string::npos) << steps.explanation;
}
TEST_F(StepTest, AHostFarAheadLaunchesInItsSteps) {
  for (int i = 0; i < 4; ++i) {
    range("marker", "iteration", i * 10, i * 10 + 9);
    range("hip", "hipLaunchKernel", i * 10 + 1, i * 10 + 2);
    kernel("a", 30 + i * 100);
  }
  EXPECT_EQ(finder_.finish().method, Method::marker);
}
TEST_F(StepTest, UsesMarkerCoveringMostOfTheTime) {
  kernels({"a", "b", "c", "d", "e"}, 6);
  for (int i = 0; i < 3; ++i) range("marker", "forward", i * 100, i * 100 + 90);
  for (int i = 0; i < 3; ++i) range("marker", "tiny", i * 100, i * 100 + 2);
  EXPECT_EQ(finder_.finish().method, Method::marker);
}
TEST_F(StepTest, OptimizerEndsEachStep) {
  for (int i = 0; i < 3; ++i) {
    range("cpu_op", "aten::mm", i * 100, i * 100 + 60);
    range("annotation", "Optimizer.step#SGD.step", i * 100 + 80, i * 100 + 90);
  }
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::optimiser_step);
  ASSERT_EQ(steps.iterations.size(), 3u);
  EXPECT_EQ(steps.iterations[0].duration_ns, 90);
  EXPECT_EQ(steps.iterations[1].start_ns, 90);
}
TEST_F(StepTest, LastOfTwoOptimizersEndsTheStep) {
  for (int i = 0; i < 2; ++i) {
    range("annotation", "Optimizer.step#Adam.step", i * 100, i * 100 + 10);
    range("annotation", "Optimizer.step#SGD.step", i * 100 + 80, i * 100 + 90);
  }
  EXPECT_EQ(finder_.finish().iterations.size(), 2u);
}
TEST_F(StepTest, RejectsASingleOptimizerStep) {
  range("annotation", "Optimizer.step#SGD.step", 80, 90);
  EXPECT_EQ(finder_.finish().method, Method::none);
}
TEST_F(StepTest, MarkersOfATraceWithoutKernels) {
  for (int i = 0; i < 3; ++i) range("marker", "forward", i * 100, i * 100 + 90);
  EXPECT_EQ(finder_.finish().method, Method::marker);
}
TEST_F(StepTest, IgnoresNumbersInMarkers) {
  kernels({"a", "b", "c", "d", "e"}, 6);
  for (int i = 0; i < 3; ++i) range("marker", "step " + std::to_string(i + 8), i * 100, i * 100 + 90);
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::marker);
  EXPECT_EQ(steps.iterations.size(), 3u);
}
TEST_F(StepTest, OutermostMarkerIsTheStep) {
  kernels({"a", "b", "c", "d", "e"}, 6);
  for (int i = 0; i < 3; ++i) {
    for (int layer = 0; layer < 4; ++layer)
      range("marker", "layer" + std::to_string(layer), i * 100 + layer * 24, i * 100 + layer * 24 + 24);
    range("marker", "iteration", i * 100, i * 100 + 97);
  }
  EXPECT_EQ(finder_.finish().iterations.size(), 3u);
}
TEST_F(StepTest, NamedStepsOfAHostThatRunsAhead) {
  kernels({"a", "b", "c", "d", "e"}, 60);
  for (int i = 0; i < 4; ++i) {
    range("marker", "train_step " + std::to_string(i), i * 100, i * 100 + 90);
    range("marker", "optimizer step", i * 100 + 60, i * 100 + 90);
  }
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::marker);
  ASSERT_EQ(steps.iterations.size(), 4u);
  EXPECT_EQ(steps.iterations[1].duration_ns, 90);
}
TEST_F(StepTest, OtherNamesOfShortRangesAreNoSteps) {
  kernels({"a", "b", "c", "d", "e"}, 60);
  for (const char* name : {"stepping stones", "optimizer step", "forward"})
    for (int i = 0; i < 4; ++i) range("marker", name, i * 100, i * 100 + 90);
  EXPECT_EQ(finder_.finish().method, Method::kernel_period);
}
TEST_F(StepTest, ThePeriodOfTheKernels) {
  kernels({"a", "b", "b", "c", "d"}, 20);
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::kernel_period);
  ASSERT_EQ(steps.iterations.size(), 20u);
  EXPECT_EQ(steps.iterations[0].duration_ns, 50);
}
// A decoder's layers within one replayed graph.
TEST_F(StepTest, WhatRepeatsWithinOneLaunchIsALayer) {
  launch_ = 77;
  kernels({"a", "b", "b", "c", "d"}, 20);
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::none);
  EXPECT_TRUE(steps.iterations.empty());
  EXPECT_NE(steps.explanation.find("layers, not steps"), std::string::npos);
}
TEST_F(StepTest, GraphsLaunchedOneByOneAreSteps) {
  for (int i = 0; i < 100; ++i) {
    launch_ = 1 + static_cast<std::uint64_t>(i / 5);
    kernel(std::string(1, "abbcd"[i % 5]), i * 10);
  }
  EXPECT_EQ(finder_.finish().iterations.size(), 20u);
}
TEST_F(StepTest, WhatRepeatsWithinOneForwardPassIsALayer) {
  range("python", "nn.Module: Decoder_0", 0, 2000);
  for (int i = 0; i < 20; ++i) range("python", "nn.Module: Layer_" + std::to_string(i), i * 50, i * 50 + 40);
  kernels({"a", "b", "b", "c", "d"}, 20);
  EXPECT_EQ(finder_.finish().method, Method::none);
}
TEST_F(StepTest, AForwardPassForEachPeriodIsAStep) {
  for (int i = 0; i < 20; ++i) range("python", "nn.Module: Net_0", i * 50, i * 50 + 40);
  kernels({"a", "b", "b", "c", "d"}, 20);
  EXPECT_EQ(finder_.finish().method, Method::kernel_period);
}
TEST_F(StepTest, SingleKernelLoopIsNotAStep) {
  kernels({"a"}, 100);
  EXPECT_EQ(finder_.finish().method, Method::none);
}
TEST_F(StepTest, NoStepsWithoutRows) {
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::none);
  EXPECT_TRUE(steps.iterations.empty());
  EXPECT_FALSE(steps.explanation.empty());
}
TEST_F(StepTest, APeriodBeginsWhereTheDeviceIdlesLongest) {
  std::int64_t now = 0;
  for (const char* setup : {"fill", "fill"}) kernel(setup, now += 10);
  for (int step = 0; step < 8; ++step)
    for (const char* name : {"a", "b", "c", "d", "e"}) kernel(name, now += *name == 'a' ? 200 : 10);
  const auto steps = finder_.finish();
  EXPECT_EQ(steps.method, Method::kernel_period);
  ASSERT_EQ(steps.iterations.size(), 8u);
  EXPECT_EQ(steps.iterations[0].start_ns, 220);
  EXPECT_EQ(steps.iterations[1].start_ns - steps.iterations[0].start_ns, 240);
  EXPECT_EQ(steps.iterations[7].duration_ns, 45);
}
TEST(FirstOfPeriod, OnlyIfDistinct) {
  EXPECT_EQ(first_of_period({0, 1, 9, 1, 0, 1, 9, 1, 0, 1, 9, 1}, 4), 2u);
  EXPECT_EQ(first_of_period({0, 5, 9, 1, 0, 5, 9, 1, 0, 5, 9, 1}, 4), 0u);
  EXPECT_EQ(first_of_period({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 4), 0u);
  EXPECT_EQ(first_of_period({0, 1, 1, 1, 9, 1, 1, 1, 9, 1, 1, 1}, 4), 0u);  // the very first has nothing before it
  EXPECT_EQ(first_of_period({0, 1, 9}, 4), 0u);
  EXPECT_EQ(first_of_period({}, 0), 0u);
}
TEST(Period, ShortestThatRepeats) { EXPECT_EQ(period_of({1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}), 4u); }
TEST(Period, ToleratesFewOutliers) {
  std::vector<std::uint32_t> sequence;
  for (std::uint32_t i = 0; i < 500; ++i) sequence.push_back(i % 100 == 50 ? 1000 + i : i % 10);
  EXPECT_EQ(period_of(sequence), 10u);
}
TEST(Period, NoneWithoutRepetition) {
  EXPECT_EQ(period_of({}), std::nullopt);
  EXPECT_EQ(period_of({1, 2, 3, 4, 5, 6, 7, 8, 9}), std::nullopt);
  EXPECT_EQ(period_of({1, 2, 3, 1, 2, 3}), std::nullopt);  // twice is not enough
}

}  // namespace
}  // namespace aaco::analytics::steps
