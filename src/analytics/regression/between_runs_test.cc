#include "analytics/between_runs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "analytics/side_verdict.h"

namespace aaco::analytics::regression {
namespace {

struct Blocks {
  trace::NameTable names;
  std::vector<trace::LoopBlockRow> rows;
  Blocks& add(std::int64_t wall_ns, std::int64_t wait_ns, const char* phase = "measure", std::int64_t calls = 10) {
    trace::LoopBlockRow row;
    row.phase = names.intern(phase);
    row.start_ns = rows.empty() ? 0 : rows.back().end_ns;
    row.end_ns = row.start_ns + wall_ns;
    row.call_count = calls;
    row.caller_wait_ns = wait_ns;
    rows.push_back(row);
    return *this;
  }
  [[nodiscard]] RunScatter scatter() const { return run_scatter(rows, names); }
};

TEST(RunScatter, SteadyBlocksHaveNone) {
  Blocks blocks;
  for (int i = 0; i < 16; ++i) blocks.add(1000, 0);
  EXPECT_NEAR(blocks.scatter().drift_ratio, 0, 1e-12);
  EXPECT_EQ(blocks.scatter().waiting_ratio, 0);
}

TEST(RunScatter, DriftIsTheDeviationBetweenParts) {
  Blocks blocks;
  for (int i = 0; i < 4; ++i) blocks.add(i % 2 == 0 ? 1000 : 2000, 0);
  EXPECT_NEAR(blocks.scatter().drift_ratio, std::expm1(std::log(2.0) / std::sqrt(3.0)), 1e-12);
}

TEST(RunScatter, WaitingIsAShareOfTheWallTime) {
  EXPECT_NEAR(Blocks().add(1000, 250).add(3000, 750).scatter().waiting_ratio, 0.25, 1e-12);
}

TEST(RunScatter, OtherPhasesEmptyAndImpossibleBlocksDoNotCount) {
  Blocks blocks;
  blocks.add(1000, 900, "measure_telemetry").add(0, 100).add(1000, 500, "measure", 0);
  EXPECT_EQ(blocks.scatter().waiting_ratio, 0);
  EXPECT_EQ(blocks.scatter().drift_ratio, 0);
  EXPECT_EQ(Blocks().add(1000, 5000).scatter().waiting_ratio, 1);
}

TEST(RunScatter, ThreeBlocksAreTooFewForADrift) {
  EXPECT_EQ(Blocks().add(1000, 0).add(5000, 0).add(1000, 0).scatter().drift_ratio, 0);
}

TEST(AssumedBetweenRuns, QuietSessionsKeepTheAssumption) {
  EXPECT_NEAR(assumed_between_runs({}), kAssumedBetweenRuns, 1e-12);
  EXPECT_NEAR(assumed_between_runs(std::array{RunScatter{}, RunScatter{}}), kAssumedBetweenRuns, 1e-12);
}

TEST(AssumedBetweenRuns, LoadMayBeAbsentInTheNextSession) {
  const double half = assumed_between_runs(std::array{RunScatter{0, 0.5}, RunScatter{}});
  EXPECT_NEAR(half, std::expm1(std::hypot(std::log(1.2), std::log(2.0))), 1e-12);
  EXPECT_GT(assumed_between_runs(std::array{RunScatter{0, 0.8}}), half);
  EXPECT_TRUE(std::isfinite(assumed_between_runs(std::array{RunScatter{0, 1.0}})));
}

TEST(AssumedBetweenRuns, DriftAndTheMachinesHistoryWiden) {
  EXPECT_GT(assumed_between_runs(std::array{RunScatter{0.3, 0}}), kAssumedBetweenRuns);
  EXPECT_NEAR(assumed_between_runs({}, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(assumed_between_runs({}, 0.01), kAssumedBetweenRuns, 1e-12);  // other workloads may be steadier than this one
}

TEST(PooledNeighbourDeviation, PoolsWithinGroupsOnly) {
  const std::vector<std::vector<double>> groups = {{1, 2, 1}, {100, 200}};
  EXPECT_NEAR(pooled_neighbour_deviation(groups, 3), std::expm1(std::log(2.0) / std::sqrt(2.0)), 1e-12);
}

TEST(PooledNeighbourDeviation, TooFewPairsOrNonPositiveValuesYieldNothing) {
  const std::vector<std::vector<double>> groups = {{1, 2}, {5}};
  EXPECT_EQ(pooled_neighbour_deviation(groups, 2), 0);
  EXPECT_EQ(pooled_neighbour_deviation({}, 0), 0);
  const std::vector<std::vector<double>> zero = {{0, 1}, {1, -1}};
  EXPECT_EQ(pooled_neighbour_deviation(zero, 1), 0);
}

}  // namespace
}  // namespace aaco::analytics::regression
