#include "workflows/gpu/device_steps.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

// Host ranges of 1 ms, back to back; times in ms.
class DeviceStepsTest : public testing::Test {
 public:
  static std::int64_t ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }
  void ranges(int count, std::int32_t rank = 0) {
    for (int i = 0; i < count; ++i) {
      trace::IterationRow row;
      row.rank = rank;
      row.iteration = i;
      row.start_ns = ns(i);
      row.duration_ns = ns(1);
      steps_.add(row);
    }
  }
  void work(double launched, double start, double end, std::int32_t rank = 0) {
    steps_.add(rank, ns(launched), ns(start), ns(end));
  }
  [[nodiscard]] std::vector<double> durations() const {
    std::vector<double> out;
    for (const auto& row : steps_.finish(trace::NameId{7})) {
      EXPECT_EQ(row.phase, trace::NameId{7});
      out.push_back(static_cast<double>(row.duration_ns) / 1e6);
    }
    return out;
  }
  DeviceSteps steps_;
};

TEST_F(DeviceStepsTest, HostAheadIsTimedByTheDevice) {
  ranges(3);
  for (int i = 0; i < 3; ++i) work(i + 0.1, 0.5 + 10 * i, 5 + 10 * i), work(i + 0.5, 5 + 10 * i, 10.5 + 10 * i);
  EXPECT_EQ(durations(), (std::vector<double>{10, 10, 10}));
}
TEST_F(DeviceStepsTest, SynchronousStepsStay) {
  ranges(3);
  for (int i = 0; i < 3; ++i) work(i + 0.1, i + 0.2, i + 0.9);
  EXPECT_TRUE(durations().empty());
}
TEST_F(DeviceStepsTest, LaggingAtTheSamePaceStays) {
  ranges(4);
  for (int i = 0; i < 4; ++i) work(i + 0.1, i + 0.6, i + 1.6);
  EXPECT_TRUE(durations().empty());
}
TEST_F(DeviceStepsTest, OneStepStays) {
  ranges(1);
  work(0.1, 0.5, 20);
  EXPECT_TRUE(durations().empty());
}
TEST_F(DeviceStepsTest, StepWithoutWorkStays) {
  ranges(3);
  work(0.1, 0.5, 10), work(2.1, 10, 20);
  EXPECT_TRUE(durations().empty());
}
TEST_F(DeviceStepsTest, WorkOutsideTheRangesDoesNotCount) {
  ranges(2);
  work(0.1, 0.2, 0.9), work(1.1, 1.2, 1.9), work(5, 6, 90), work(-3, 1, 50);
  EXPECT_TRUE(durations().empty());
}
TEST_F(DeviceStepsTest, OneRankAheadTimesAll) {
  ranges(2, 0), ranges(2, 1);
  for (int i = 0; i < 2; ++i) work(i + 0.1, i + 0.2, i + 0.9, 0), work(i + 0.1, 0.5 + 8 * i, 8.5 + 8 * i, 1);
  EXPECT_EQ(durations(), (std::vector<double>{0.7, 1, 8, 8}));
}
TEST_F(DeviceStepsTest, ReversedTimesAreIgnored) {
  ranges(2);
  work(0.1, 9, 3);
  EXPECT_TRUE(durations().empty());
}

}  // namespace
}  // namespace aaco::workflows
