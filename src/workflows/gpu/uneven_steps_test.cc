#include "workflows/gpu/uneven_steps.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using analytics::trace_time::EqualKernels;

StepLengths steps(const std::vector<std::int64_t>& durations) {
  StepLengths lengths;
  std::int64_t at = 0;
  for (const std::int64_t duration : durations) {
    trace::IterationRow row;
    row.start_ns = at;
    row.duration_ns = duration;
    lengths.add(row);
    at += duration;
  }
  return lengths;
}
EqualKernels kernels(std::int64_t first_ns, std::int64_t last_ns, std::int64_t sum_ns) {
  EqualKernels one;
  one.family = "convolution";
  one.first_start_ns = first_ns;
  one.last_start_ns = last_ns;
  one.sum_ns = sum_ns;
  return one;
}

TEST(UnevenSteps, TheFirstTakesMostAndItsKernelsNeverRunAgain) {
  const auto found = steps({900, 10, 10, 10, 10}).uneven(0, {kernels(0, 800, 700), kernels(5, 930, 100), kernels(905, 930, 40)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->longest, 1);
  EXPECT_EQ(found->step_count, 5);
  EXPECT_NEAR(found->long_ratio, 900.0 / 940, 1e-9);
  EXPECT_EQ(found->once_count, 1);
  EXPECT_EQ(found->once_ns, 700);
}
TEST(UnevenSteps, KernelsOfTheFirstStepOnly) {
  const auto found = steps({10, 10, 900, 10}).uneven(0, {kernels(0, 800, 700)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->longest, 3);
  EXPECT_EQ(found->once_count, 0);
}
TEST(UnevenSteps, AlikeOrFewAreNot) {
  EXPECT_FALSE(steps({10, 12, 9, 29, 10}).uneven(0, {}));
  EXPECT_FALSE(steps({900, 10}).uneven(0, {}));
  EXPECT_FALSE(steps({900, 10, 10}).uneven(1, {})) << "of another rank";
  EXPECT_FALSE(steps(std::vector<std::int64_t>(1000, 10)).uneven(0, {}));
}
TEST(UnevenSteps, OneLongStepOfManyDoesNotMatter) {
  std::vector<std::int64_t> durations(200, 10);
  durations[0] = 100;
  EXPECT_FALSE(steps(durations).uneven(0, {}));
}

}  // namespace
}  // namespace aaco::workflows
