#include "analytics/node_time.h"

#include <gtest/gtest.h>

#include "analytics/metrics/node_sweep.h"
#include "analytics/metrics/test_rows.h"
#include "core/random.h"

namespace aaco::analytics::metrics {
namespace {

double metric(const NodeTime& time, std::string_view id) { return trace::find_metric(time.metrics, id)->value; }

const NodeShare& share(const std::vector<NodeShare>& shares, const TestRows& rows, std::string_view name) {
  for (const NodeShare& one : shares)
    if (rows.names.text(one.node_name.value != 0 ? one.node_name : one.op_type) == name) return one;
  static const NodeShare kNone;
  return kNone;
}

// One iteration from 1000 to 2000 with two nodes after each other: 50 before, 100 between, 150 after.
TestRows two_nodes() {
  TestRows rows;
  rows.iteration("profile", 1000);
  rows.node(0, "Conv_1", 1050, 400);
  rows.node(0, "Relu_1", 1550, 300);
  return rows;
}

NodeTime time_of(const TestRows& rows) { return node_time(rows.iterations, rows.executions, rows.names); }

TEST(NodeTime, PartsAddUpToTheIteration) {
  const NodeTime time = time_of(two_nodes());
  EXPECT_EQ(time.parts->whole.mean_ns, 1000);
  EXPECT_EQ(time.parts->in_nodes.mean_ns, 700);
  EXPECT_EQ(time.parts->between_nodes.mean_ns, 100);
  EXPECT_EQ(time.parts->around_nodes.mean_ns, 200);
  EXPECT_EQ(metric(time, "node.compute_ns"), 700);
  EXPECT_EQ(metric(time, "node.remainder_ns"), 300);
  EXPECT_DOUBLE_EQ(metric(time, "node.remainder_ratio"), 0.3);
  EXPECT_EQ(metric(time, "node.execution_count"), 2);
}

TEST(NodeTime, SharesOfNodesAndTypes) {
  const TestRows rows = two_nodes();
  const NodeTime time = time_of(rows);
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "Conv_1").share_ratio, 0.4);
  EXPECT_DOUBLE_EQ(share(time.operators, rows, "Relu").time.mean_ns, 300);
  EXPECT_FALSE(time.parts->whole.ci95);  // of one iteration
}

TEST(NodeTime, OverlappingThreadsCountOnce) {
  TestRows rows;
  rows.iteration("profile", 1000);
  rows.node(0, "Conv_1", 1000, 600, 1);
  rows.node(0, "Conv_2", 1400, 400, 2);
  const NodeTime time = time_of(rows);
  EXPECT_EQ(time.parts->in_nodes.mean_ns, 800);
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "Conv_1").time.mean_ns, 500);  // 400 alone and half of 200
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "Conv_2").time.mean_ns, 300);
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "Conv_2").duration_sum_ns, 400);
}

TEST(NodeTime, LoopHasTimeOutsideItsBodyOnly) {
  TestRows rows;
  rows.iteration("profile", 1000);
  rows.node(0, "Loop_1", 1000, 900);
  rows.node(0, "MatMul_1", 1000, 300);
  rows.node(0, "MatMul_1", 1400, 300);
  const NodeTime time = time_of(rows);
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "Loop_1").time.mean_ns, 300);
  EXPECT_DOUBLE_EQ(share(time.nodes, rows, "MatMul_1").time.mean_ns, 600);
  EXPECT_EQ(share(time.nodes, rows, "MatMul_1").executions, 2);
}

TEST(NodeTime, IntervalsOverIterations) {
  TestRows rows;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t start = rows.now_ns;
    rows.iteration("profile", 1000);
    rows.node(i, "Conv_1", start + 100, 500 + 100 * (i % 2));
  }
  const NodeTime time = time_of(rows);
  EXPECT_EQ(time.iterations, 4);
  EXPECT_DOUBLE_EQ(time.nodes[0].time.mean_ns, 550);
  // 550 -+ t(0.975, 3) x 57.735 / 2 = 3.18245 x 28.8675
  EXPECT_NEAR(time.nodes[0].time.ci95->high - 550, 91.869, 1e-3);
  EXPECT_NEAR(trace::find_metric(time.metrics, "node.remainder_ratio")->ci95->high - 0.45, 0.091869, 1e-6);
}

TEST(NodeTime, ClipsNodesToTheIteration) {
  TestRows rows;
  rows.iteration("profile", 1000);
  rows.node(0, "Conv_1", 900, 300);   // 100 before the start
  rows.node(0, "Relu_1", 1900, 300);  // 200 beyond the end
  EXPECT_EQ(time_of(rows).parts->in_nodes.mean_ns, 300);
}

TEST(NodeTime, CountsAndSkipsUnassignedNodes) {
  TestRows rows = two_nodes();
  rows.node(7, "Conv_1", 1100, 10);
  rows.node(0, "Conv_1", 5000, 10);
  rows.node(0, "Conv_1", 1100, -10);
  const NodeTime time = time_of(rows);
  EXPECT_EQ(time.unmatched_executions, 3);
  EXPECT_EQ(metric(time, "node.execution_count"), 2);
}

TEST(NodeTime, IgnoresIterationsWithoutNodes) {
  TestRows rows = two_nodes();
  rows.iteration("profile", 500);
  EXPECT_EQ(time_of(rows).iterations, 1);
}

TEST(NodeTime, RefusesWithoutAProfiledPass) {
  TestRows rows;
  rows.iteration("measure", 1000);
  rows.node(0, "Conv_1", 1000, 10);
  const NodeTime time = time_of(rows);
  EXPECT_FALSE(time.parts);
  EXPECT_TRUE(time.metrics.empty() && time.nodes.empty());
  EXPECT_EQ(time.unmatched_executions, 1);
}

TEST(NodeTime, InstantNodesAreCountedWithNoTime) {
  TestRows rows = two_nodes();
  rows.node(0, "Shape_1", 1200, 0);
  const NodeTime time = time_of(rows);
  EXPECT_EQ(share(time.nodes, rows, "Shape_1").time.mean_ns, 0);
  EXPECT_EQ(metric(time, "node.execution_count"), 3);
}

// Against counting nanosecond by nanosecond.
TEST(NodeSweep, MatchesBruteForce) {
  core::Random random(9);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<NodeInterval> intervals;
    for (int i = 0; i < 12; ++i) {
      const auto start = static_cast<std::int64_t>(random.below(100));
      intervals.push_back(
          {start, start + 1 + static_cast<std::int64_t>(random.below(30)), static_cast<std::int64_t>(random.below(3))});
    }
    std::int64_t covered = 0;
    for (std::int64_t t = 0; t < 200; ++t)
      for (const NodeInterval& one : intervals)
        if (one.start_ns <= t && t < one.end_ns) {
          ++covered;
          break;
        }
    const SweptTime swept = sweep(intervals);
    double sum = 0;
    for (const double own : swept.own_ns) sum += own;
    EXPECT_EQ(swept.union_ns, covered);
    EXPECT_NEAR(sum, static_cast<double>(covered), 1e-9);
  }
}

}  // namespace
}  // namespace aaco::analytics::metrics
