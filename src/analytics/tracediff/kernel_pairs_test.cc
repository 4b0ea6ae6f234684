#include "analytics/kernel_pairs.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aaco::analytics::tracediff {
namespace {

// Two steps of each side, so that a kernel's time per step is known.
std::vector<Step> steps(std::vector<KernelCall> calls) { return {calls, calls}; }
std::vector<KernelPair> paired(std::vector<KernelCall> a, std::vector<KernelCall> b, const Roles& roles_a = {},
                               const Roles& roles_b = {}) {
  return pair_kernels(compare(steps(std::move(a)), steps(std::move(b))), roles_a, roles_b);
}
using Names = std::vector<std::string>;

TEST(KernelPairs, EqualNamesAreOneRow) {
  const auto pairs = paired({{"k", 100}}, {{"k", 150}});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].match, Match::name);
  EXPECT_DOUBLE_EQ(pairs[0].delta_ns, 50);
}
TEST(KernelPairs, OtherNamesOfOneRoleAreOneRow) {
  const Role mm{"aten::mm", "gemm"};
  const auto pairs = paired({{"tensile", 100}}, {{"cutlass_a", 30}, {"cutlass_b", 50}}, {{"tensile", mm}},
                            {{"cutlass_a", mm}, {"cutlass_b", mm}});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].match, Match::role);
  EXPECT_EQ(pairs[0].role, "aten::mm, gemm");
  EXPECT_EQ(pairs[0].names_a, Names{"tensile"});
  EXPECT_EQ(pairs[0].names_b, (Names{"cutlass_b", "cutlass_a"}));
  EXPECT_DOUBLE_EQ(pairs[0].b.per_step_ns, 80);
  EXPECT_DOUBLE_EQ(pairs[0].b.calls_per_step, 2);
  EXPECT_DOUBLE_EQ(pairs[0].b.mean_ns, 40);
}
TEST(KernelPairs, DifferentRolesAreNotJoined) {
  const auto pairs = paired({{"x", 100}}, {{"y", 30}}, {{"x", {"aten::mm", "gemm"}}}, {{"y", {"aten::add", "elementwise"}}});
  ASSERT_EQ(pairs.size(), 2U);
  for (const auto& pair : pairs) EXPECT_EQ(pair.match, Match::none);
}
TEST(KernelPairs, UnknownRolesAreNotJoined) {
  EXPECT_EQ(paired({{"x", 100}}, {{"y", 30}}).size(), 2U);
  EXPECT_EQ(paired({{"x", 100}}, {{"y", 30}}, {{"x", {"", "other"}}}, {{"y", {"", "other"}}}).size(), 2U);
}
TEST(KernelPairs, SameNameIsNotTakenForItsRole) {
  const Role mm{"aten::mm", "gemm"};
  const auto pairs =
      paired({{"k", 100}, {"old", 10}}, {{"k", 90}, {"new", 20}}, {{"k", mm}, {"old", mm}}, {{"k", mm}, {"new", mm}});
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].names_a.size(), 1U);
}
TEST(KernelPairs, SumsAreThoseOfTheTraces) {
  const Role mm{"aten::mm", "gemm"};
  const auto difference = compare(steps({{"a", 10}, {"b", 20}, {"c", 5}}), steps({{"b", 25}, {"d", 7}}));
  const auto pairs = pair_kernels(difference, {{"a", mm}, {"c", {}}}, {{"d", mm}});
  const double delta =
      std::accumulate(pairs.begin(), pairs.end(), 0.0, [](double sum, const auto& one) { return sum + one.delta_ns; });
  EXPECT_DOUBLE_EQ(delta, difference.delta_ns);
}
TEST(KernelPairs, NothingGivesNothing) { EXPECT_TRUE(paired({}, {}).empty()); }

}  // namespace
}  // namespace aaco::analytics::tracediff
