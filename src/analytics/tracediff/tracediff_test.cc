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
