#include "analytics/tracediff.h"

#include <gtest/gtest.h>

namespace aaco::analytics::tracediff {
namespace {

const KernelChange& row(const TraceDifference& difference, std::string_view name) {
  for (const auto& kernel : difference.kernels)
    if (kernel.name == name) return kernel;
  static const KernelChange kNone;
  ADD_FAILURE() << name;
  return kNone;
}

TEST(TraceDiff, EqualTracesAreTheSame) {
  const std::vector<Step> steps = {{{"a", 10}, {"b", 20}}, {{"a", 10}, {"b", 20}}};
  const auto difference = compare(steps, steps);
  EXPECT_EQ(row(difference, "a").change, Change::same);
  EXPECT_EQ(difference.delta_ns, 0);
  EXPECT_TRUE(difference.order.empty());
}
TEST(TraceDiff, NewAndGone) {
  const auto difference = compare({{{"a", 10}, {"old", 20}}}, {{{"a", 10}, {"young", 50}}});
  EXPECT_EQ(row(difference, "old").change, Change::gone);
  EXPECT_EQ(row(difference, "young").change, Change::appeared);
  EXPECT_EQ(difference.delta_ns, 30);
  ASSERT_EQ(difference.order.size(), 1u);
  EXPECT_EQ(difference.order[0].a_begin, 1u);
  EXPECT_EQ(difference.order[0].b_end, 2u);
}
TEST(TraceDiff, AKernelWrittenWithoutArgumentsIsTheSame) {
  const auto difference = compare({{{"void k<double>(int)", 10}, {"a", 20}}}, {{{"k", 15}, {"a", 20}}});
  EXPECT_EQ(row(difference, "void k<double>(int)").delta_ns, 5);
  EXPECT_EQ(difference.kernels.size(), 2u);
  EXPECT_TRUE(difference.order.empty());
}
TEST(TraceDiff, Slower) {
  const auto difference = compare({{{"a", 100}}, {{"a", 102}}}, {{{"a", 150}}, {{"a", 152}}});
  EXPECT_EQ(row(difference, "a").change, Change::slower);
  EXPECT_DOUBLE_EQ(row(difference, "a").time_part_ns, 50);
}
TEST(TraceDiff, WithinTheNoiseIsTheSame) {
  const auto difference = compare({{{"a", 50}}, {{"a", 150}}}, {{{"a", 60}}, {{"a", 160}}});
  EXPECT_EQ(row(difference, "a").change, Change::same);
}
TEST(TraceDiff, MoreOften) {
  const auto difference = compare({{{"a", 100}}}, {{{"a", 100}, {"a", 100}}});
  EXPECT_EQ(row(difference, "a").change, Change::more_often);
  EXPECT_DOUBLE_EQ(row(difference, "a").count_part_ns, 100);
}
TEST(TraceDiff, PartsAddUp) {
  const auto difference = compare({{{"a", 100}, {"a", 100}}}, {{{"a", 70}, {"a", 70}, {"a", 70}}});
  const auto& a = row(difference, "a");
  EXPECT_DOUBLE_EQ(a.count_part_ns + a.time_part_ns, a.delta_ns);
}
TEST(TraceDiff, DifferentNumbersOfSteps) {
  const auto difference = compare({{{"a", 100}}, {{"a", 100}}, {{"a", 100}}}, {{{"a", 100}}});
  EXPECT_EQ(row(difference, "a").change, Change::same);
}
TEST(TraceDiff, OrderOfAMiddleInsertion) {
  const auto difference = compare({{{"a", 1}, {"b", 1}, {"c", 1}}}, {{{"a", 1}, {"x", 1}, {"b", 1}, {"y", 1}, {"c", 1}}});
  ASSERT_EQ(difference.order.size(), 2u);
  EXPECT_EQ(difference.order[0].b_begin, 1u);
  EXPECT_EQ(difference.order[1].b_begin, 3u);
  EXPECT_TRUE(difference.order_complete);
}
Step calls(std::string_view name, std::int64_t around_ns, int count) {
  Step step;
  for (int i = 0; i < count; ++i) step.push_back({name, around_ns + i % 3 - 1});
  return step;
}

// One kernel 55 % faster has its own verdict, whatever the whole does.
TEST(TraceDiff, EachKernelHasAVerdict) {
  Step a = calls("fast", 1000, 30), b = calls("fast", 450, 30);
  for (const auto& call : calls("same", 9000, 30)) a.push_back(call), b.push_back(call);
  const auto difference = compare({a}, {b}, 0.02, 0.03);
  EXPECT_EQ(row(difference, "fast").verdict, CallVerdict::faster);
  EXPECT_LT(*row(difference, "fast").p_holm, 1e-6);
  EXPECT_EQ(row(difference, "same").verdict, CallVerdict::not_significant);
}
TEST(TraceDiff, EqualTracesDifferByAsMuchAsAssumed) {
  const Step a = calls("a", 1000, 100), b = calls("a", 1050, 100);
  EXPECT_EQ(row(compare({a}, {b}, 0.02, 0.03), "a").verdict, CallVerdict::not_significant) << "5 % is 1.2 deviations";
  EXPECT_EQ(row(compare({a}, {b}), "a").verdict, CallVerdict::slower) << "no deviation assumed";
}
TEST(TraceDiff, VerdictsAreCorrectedForTheNumberOfKernels) {
  Step a, b;
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("k" + std::to_string(i));
  for (const auto& name : names)
    for (const auto& call : calls(name, 1000, 10)) {
      a.push_back(call);
      b.push_back({call.name, name == "k0" ? call.duration_ns + 105 : call.duration_ns});
    }
  const auto difference = compare({a}, {b}, 0.02, 0.03);
  EXPECT_LT(*row(difference, "k0").p_value, 0.05);
  EXPECT_EQ(row(difference, "k0").verdict, CallVerdict::not_significant) << "one of fifty";
}
TEST(TraceDiff, OneCallHasNoVerdict) {
  const auto difference = compare({{{"a", 100}}}, {{{"a", 300}}});
  EXPECT_EQ(row(difference, "a").verdict, CallVerdict::unknown);
  EXPECT_FALSE(row(difference, "a").p_holm);
  EXPECT_EQ(row(compare({}, {calls("a", 5, 9)}), "a").verdict, CallVerdict::unknown) << "new";
}
// One kernel on several grids: {grid, time per call}.
Step on_grids(std::initializer_list<std::pair<std::uint32_t, std::int64_t>> times, int count = 20) {
  Step step;
  for (const auto& [grid, ns] : times)
    for (int i = 0; i < count; ++i) step.push_back({"gemm", ns + i % 3 - 1, grid == 0 ? Grid{} : Grid{grid, 1, 1}});
  return step;
}
const GridChange& grid_of(const KernelChange& kernel, std::uint32_t x) {
  for (const auto& grid : kernel.grids)
    if (grid.grid[0] == x) return grid;
  static const GridChange kNone;
  ADD_FAILURE() << x;
  return kNone;
}

TEST(TraceDiff, TellsWhichGridChanged) {
  const auto difference =
      compare({on_grids({{32, 1000}, {64, 2000}, {128, 9000}})}, {on_grids({{32, 1000}, {64, 2800}, {128, 9000}})}, 0.02, 0.03);
  const auto& gemm = row(difference, "gemm");
  ASSERT_EQ(gemm.grids.size(), 3u);
  EXPECT_EQ(gemm.grids[0].grid, (Grid{64, 1, 1})) << "largest first";
  EXPECT_EQ(gemm.grids[0].verdict, CallVerdict::slower);
  EXPECT_NEAR(*gemm.grids[0].call_ratio, 0.4, 1e-3);
  EXPECT_EQ(grid_of(gemm, 32).verdict, CallVerdict::not_significant);
  EXPECT_EQ(grid_of(gemm, 128).verdict, CallVerdict::not_significant);
}
TEST(TraceDiff, TheScatterBetweenGridsDoesNotHideAChange) {
  const auto difference =
      compare({on_grids({{32, 1000}, {128, 90000}}, 4)}, {on_grids({{32, 1400}, {128, 126000}}, 4)}, 0.02, 0.03);
  EXPECT_EQ(row(difference, "gemm").verdict, CallVerdict::slower);
  EXPECT_NEAR(*row(difference, "gemm").call_ratio, 0.4, 1e-3);
}
TEST(TraceDiff, GridsInOppositeDirectionsAreNotTheSame) {
  const auto difference = compare({on_grids({{32, 1000}, {64, 2000}})}, {on_grids({{32, 1400}, {64, 1600}})}, 0.02, 0.03);
  const auto& gemm = row(difference, "gemm");
  EXPECT_EQ(gemm.delta_ns, 0);
  EXPECT_EQ(gemm.change, Change::by_grid);
  EXPECT_EQ(grid_of(gemm, 32).verdict, CallVerdict::slower);
  EXPECT_EQ(grid_of(gemm, 64).verdict, CallVerdict::faster);
  EXPECT_EQ(row(compare({on_grids({{32, 1000}, {64, 2000}})}, {on_grids({{32, 1000}, {64, 2000}})}), "gemm").change,
            Change::same);
}
TEST(TraceDiff, AnotherMixOfGridsIsNotSlower) {
  Step few = on_grids({{32, 1000}}, 30), many = on_grids({{32, 1000}}, 10);
  for (const auto& call : on_grids({{64, 3000}}, 10)) few.push_back(call);
  for (const auto& call : on_grids({{64, 3000}}, 30)) many.push_back(call);
  const auto difference = compare({few}, {many}, 0.02, 0.03);
  const auto& gemm = row(difference, "gemm");
  EXPECT_NEAR(gemm.count_part_ns, 40000, 50);
  EXPECT_NEAR(*gemm.call_ratio, 0, 1e-3);
  EXPECT_EQ(gemm.verdict, CallVerdict::not_significant);
  EXPECT_EQ(gemm.change, Change::by_grid);
}
TEST(TraceDiff, GridsThatCannotBeComparedAreNone) {
  EXPECT_TRUE(row(compare({on_grids({{32, 10}, {64, 20}})}, {on_grids({{8, 10}, {16, 20}})}), "gemm").grids.empty())
      << "none shared";
  EXPECT_TRUE(row(compare({on_grids({{32, 10}})}, {on_grids({{32, 20}})}), "gemm").grids.empty()) << "only one";
  EXPECT_TRUE(row(compare({on_grids({{32, 10}, {0, 20}})}, {on_grids({{32, 10}})}), "gemm").grids.empty()) << "one unknown";
}
TEST(TraceDiff, EmptyTraces) {
  EXPECT_TRUE(compare({}, {}).kernels.empty());
  EXPECT_TRUE(compare({{}}, {{}}).order.empty());
  EXPECT_EQ(row(compare({}, {{{"a", 5}}}), "a").change, Change::appeared);
}
TEST(TraceDiff, ReportsStepsTooLongToAlign) {
  Step a, b;
  for (int i = 0; i < 5000; ++i) a.push_back({"a", 1}), b.push_back({"b", 1});
  EXPECT_FALSE(compare({a}, {b}).order_complete);
}

}  // namespace
}  // namespace aaco::analytics::tracediff
