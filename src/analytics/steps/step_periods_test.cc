#include "analytics/step_periods.h"

#include <gtest/gtest.h>

namespace aaco::analytics::steps {
namespace {

class StepPeriodsTest : public testing::Test {
 protected:
  void step(std::int64_t number, std::int64_t start, std::int64_t duration, std::int32_t rank = 0, const char* phase = "step") {
    trace::IterationRow row;
    row.rank = rank;
    row.iteration = number;
    row.phase = names_.intern(phase);
    row.start_ns = start;
    row.duration_ns = duration;
    rows_.push_back(row);
  }
  [[nodiscard]] std::vector<std::int64_t> durations() const {
    std::vector<std::int64_t> out;
    for (const auto& row : step_periods(rows_, names_).value_or(std::vector<trace::IterationRow>()))
      out.push_back(row.duration_ns);
    return out;
  }
  trace::NameTable names_;
  std::vector<trace::IterationRow> rows_;
};

TEST_F(StepPeriodsTest, GoFromStartToStart) {
  step(1, 120, 20);
  step(0, 0, 20);
  step(2, 250, 20);
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{120, 130}));
}
TEST_F(StepPeriodsTest, TouchingRangesStay) {
  for (int i = 0; i < 5; ++i) step(i, i * 1000, 985);
  EXPECT_TRUE(durations().empty());
}
TEST_F(StepPeriodsTest, AreOfOneRank) {
  for (int i = 0; i < 3; ++i) step(i, i * 100, 40, 0), step(i, 50 + i * 200, 40, 1);
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{100, 100, 200, 200}));
}
TEST_F(StepPeriodsTest, TimeThatWasNotRecordedBelongsToNoStep) {
  step(0, 0, 60), step(1, 100, 60), step(40, 100'000, 60), step(41, 100'100, 60);
  EXPECT_EQ(durations(), (std::vector<std::int64_t>{100, 100}));
}
TEST_F(StepPeriodsTest, OverlappingRangesHaveNone) {
  step(0, 0, 150), step(1, 100, 60), step(2, 300, 60);
  EXPECT_TRUE(durations().empty());
}
TEST_F(StepPeriodsTest, OtherPhasesAndSingleStepsHaveNone) {
  step(0, 0, 10);
  for (int i = 0; i < 5; ++i) step(i, i * 100, 20, 0, "measure");
  EXPECT_TRUE(durations().empty());
}

}  // namespace
}  // namespace aaco::analytics::steps
