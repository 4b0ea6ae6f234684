#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/compiler_diff.h"

namespace aaco::analytics::compiler {
namespace {

using graph::NearMiss;
using testing::IsEmpty;
using testing::SizeIs;

// Each node is a kernel of its own.
GraphDiff kept(std::size_t nodes) {
  GraphDiff diff;
  for (std::size_t node = 0; node < nodes; ++node) {
    diff.nodes.push_back({Fate::kept, node});
    diff.kernels.push_back({{node}, {}, {}});
  }
  return diff;
}
NearMiss miss(const std::string& pattern, const std::string& reason, std::vector<std::size_t> nodes, std::size_t first,
              std::size_t second, const std::string& condition = "") {
  NearMiss out{pattern, "basic", reason, first, second, {}, std::move(nodes), condition};
  return out;
}
std::vector<std::string> patterns(const GraphDiff& diff, std::vector<NearMiss> near) {
  std::vector<std::string> out;
  for (const NearMiss& one : missed_fusions(diff, std::move(near), "all")) out.push_back(one.pattern + " " + one.reason);
  return out;
}

TEST(MissedFusions, OfTwoPatternsTheSmallerOneNamesThePair) {
  EXPECT_THAT(patterns(kept(3), {miss("conv_activation", "several_consumers", {0, 1, 2}, 0, 1),
                                 miss("conv_bn", "several_consumers", {0, 1}, 0, 1)}),
              testing::ElementsAre("conv_bn several_consumers"));
}
TEST(MissedFusions, WhatFollowsFromANamedPairIsNotUnexplained) {
  EXPECT_THAT(
      patterns(kept(3), {miss("conv_activation", "", {0, 1, 2}, 1, 2), miss("conv_bn", "operand_not_constant", {0, 1}, 0, 1)}),
      testing::ElementsAre("conv_bn operand_not_constant"));
  EXPECT_THAT(
      patterns(kept(4), {miss("conv_activation", "", {2, 3}, 2, 3), miss("conv_bn", "operand_not_constant", {0, 1}, 0, 1)}),
      SizeIs(2));
}
TEST(MissedFusions, WhatCannotBeCheckedAtALowerLevelIsOfTheLevel) {
  NearMiss one = miss("attention", "not_checked", {0, 1}, 0, 1, "a form");
  one.level = "extended";
  ASSERT_THAT(missed_fusions(kept(2), {one}, "basic"), SizeIs(1));
  EXPECT_EQ(missed_fusions(kept(2), {one}, "basic")[0].reason, "level_too_low");
  EXPECT_EQ(missed_fusions(kept(2), {one}, "all")[0].reason, "not_checked");
}
TEST(MissedFusions, OneConditionGivesOneMiss) {
  EXPECT_THAT(patterns(kept(4), {miss("norm", "operator_not_covered", {0, 1, 2, 3}, 0, 1, "'sq' is Mul"),
                                 miss("part", "operator_not_covered", {1, 2}, 1, 2, "'sq' is Mul")}),
              testing::ElementsAre("norm operator_not_covered"));
  EXPECT_THAT(patterns(kept(4), {miss("norm", "attribute_not_covered", {0, 1, 2, 3}, 0, 1, "axes of 'mean'"),
                                 miss("part", "attribute_not_covered", {1, 2, 3}, 1, 2, "axes of 'variance'")}),
              testing::ElementsAre("norm attribute_not_covered"));
}
TEST(MissedFusions, ANodeThatCouldHaveGone) {
  NearMiss drop = miss("dropout_elimination", "several_consumers", {1}, 1, 2);
  drop.removal = 1;
  EXPECT_THAT(patterns(kept(3), {drop}), SizeIs(1));
  for (const Fate fate : {Fate::removed, Fate::folded, Fate::fused}) {
    GraphDiff diff = kept(3);
    diff.nodes[1].fate = fate;
    EXPECT_THAT(patterns(diff, {drop}), IsEmpty()) << to_string(fate);
  }
}

}  // namespace
}  // namespace aaco::analytics::compiler
