#include "analytics/node_changes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analytics/metrics/test_rows.h"

namespace aaco::analytics::metrics {
namespace {

// Three profiled iterations of nodes one after the other, 10 ns between them; durations vary by 1 ns.
struct Profiled {
  TestRows rows;
  explicit Profiled(const std::vector<std::pair<std::string, std::int64_t>>& nodes) {
    for (std::int64_t iteration = 0; iteration < 3; ++iteration) {
      std::int64_t at = rows.now_ns + 5, index = 0;
      for (const auto& [name, duration] : nodes) {
        rows.node(iteration, name, at, duration + iteration).node_index = index++;
        at += duration + iteration + 10;
      }
      rows.iteration("profile", at + 20 - rows.now_ns);
    }
  }
  [[nodiscard]] NodeTime time() const { return node_time(rows.iterations, rows.executions, rows.names); }
};

NodeChanges changes_of(const Profiled& a, const Profiled& b) {
  return compare_nodes(a.time(), a.rows.names, b.time(), b.rows.names);
}

const NodeChange& of(const NodeChanges& changes, std::string_view name) {
  for (const auto& one : changes.nodes)
    if (one.name == name) return one;
  static const NodeChange kNone;
  return kNone;
}

TEST(NodeChanges, DifferencesAddUpToTheIteration) {
  const auto changes = changes_of(Profiled({{"Conv_1", 4000}, {"Relu_1", 300}, {"Add_1", 500}}),
                                  Profiled({{"Conv_1", 6000}, {"Relu_1", 300}, {"Mul_1", 200}}));
  const double nodes = std::accumulate(changes.nodes.begin(), changes.nodes.end(), 0.0,
                                       [](double sum, const auto& one) { return sum + one.delta_ns; });
  EXPECT_NEAR(nodes + changes.between_nodes_ns + changes.around_nodes_ns, changes.delta_ns, 1e-6);
  EXPECT_NEAR(changes.delta_ns, 2000 - 300, 1e-6);
  EXPECT_EQ(changes.nodes.front().name, "Conv_1");
}

TEST(NodeChanges, KindsAreNamed) {
  const auto changes = changes_of(Profiled({{"Conv_1", 4000}, {"Conv_2", 4000}, {"Relu_1", 3000}, {"Add_1", 500}}),
                                  Profiled({{"Conv_1", 6000}, {"Conv_2", 2000}, {"Relu_1", 3000}, {"Mul_1", 500}}));
  EXPECT_EQ(of(changes, "Conv_1").kind, NodeChangeKind::slower);
  EXPECT_EQ(of(changes, "Conv_2").kind, NodeChangeKind::faster);
  EXPECT_EQ(of(changes, "Relu_1").kind, NodeChangeKind::same);
  EXPECT_EQ(of(changes, "Add_1").kind, NodeChangeKind::gone);
  EXPECT_EQ(of(changes, "Mul_1").kind, NodeChangeKind::appeared);
  EXPECT_EQ(of(changes, "Mul_1").a.executions, 0);
}

TEST(NodeChanges, RenamedNodesMatchByTypeInGraphOrder) {
  const auto changes = changes_of(Profiled({{"Conv_1", 4000}, {"Conv_2", 1000}}), Profiled({{"Conv_x", 4000}, {"Conv_y", 9000}}));
  ASSERT_EQ(changes.nodes.size(), 2U);
  EXPECT_EQ(of(changes, "Conv_y").former_name, "Conv_2");
  EXPECT_NEAR(of(changes, "Conv_y").delta_ns, 8000, 1e-6);
  EXPECT_EQ(of(changes, "Conv_x").former_name, "Conv_1");
}

TEST(NodeChanges, OneIterationDecidesNothing) {
  TestRows a, b;
  for (auto* rows : {&a, &b}) {
    rows->iteration("profile", 10'000);
    rows->node(0, "Conv_1", 1000, rows == &a ? 1000 : 9000);
  }
  const auto changes = compare_nodes(node_time(a.iterations, a.executions, a.names), a.names,
                                     node_time(b.iterations, b.executions, b.names), b.names);
  EXPECT_EQ(of(changes, "Conv_1").kind, NodeChangeKind::unclear);
  EXPECT_NEAR(of(changes, "Conv_1").delta_ns, 8000, 1e-6);
}

TEST(NodeChanges, OverlappingIntervalsAreUnclear) {
  Profiled a({{"Conv_1", 1000}}), b({{"Conv_1", 1100}});
  for (auto* side : {&a, &b})
    for (std::size_t i = 0; i < 3; ++i) side->rows.executions[i].duration_ns += static_cast<std::int64_t>(i) * 20 - 20;
  EXPECT_EQ(of(changes_of(a, b), "Conv_1").kind, NodeChangeKind::unclear);
}

TEST(NodeChanges, KindsHaveNames) {
  EXPECT_EQ(to_string(NodeChangeKind::same), "same");
  EXPECT_EQ(to_string(NodeChangeKind::gone), "gone");
}

}  // namespace
}  // namespace aaco::analytics::metrics
