#include "workflows/compare/kernel_cause.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using analytics::tracediff::CallVerdict;
using analytics::tracediff::TraceDifference;

constexpr double kThreshold = 0.02;

class DecidedKernel : public testing::Test {
 protected:
  void kernel(const char* name, double a_ns, double b_ns, CallVerdict verdict) {
    analytics::tracediff::KernelChange one;
    one.name = name;
    one.a.mean_ns = one.a.per_step_ns = a_ns;
    one.b.mean_ns = one.b.per_step_ns = b_ns;
    one.delta_ns = one.time_part_ns = b_ns - a_ns;
    if (a_ns > 0) one.call_ratio = b_ns / a_ns - 1;
    one.verdict = verdict;
    if (verdict != CallVerdict::unknown) one.p_holm = 0.001;
    difference_.kernels.push_back(one);
  }
  std::optional<SuspectedCause> found() { return decided_kernel(difference_, kThreshold); }
  TraceDifference difference_;
};

TEST_F(DecidedKernel, IsNamedBesideAnInconclusiveWhole) {
  kernel("laplacian(double*)", 2e6, 0.9e6, CallVerdict::faster);
  kernel("norm", 1e6, 1.001e6, CallVerdict::not_significant);
  const auto cause = found();
  ASSERT_TRUE(cause);
  EXPECT_NE(cause->cause.find("laplacian: 900 µs per call instead of 2.00 ms (-55"), std::string::npos) << cause->cause;
  EXPECT_EQ(cause->details["causes"].items()[0]["cause"].text(), "faster_kernels");
  EXPECT_EQ(cause->details["causes"].items()[0]["kernel"].text(), "laplacian(double*)");
}
TEST_F(DecidedKernel, MostKernelsAlikeAreNoSingleKernel) {
  kernel("gemm", 6e6, 8e6, CallVerdict::slower);
  kernel("gelu", 3e6, 4e6, CallVerdict::slower);
  kernel("norm", 0.5e6, 0.66e6, CallVerdict::slower);
  kernel("fill", 0.1e6, 0.1e6, CallVerdict::not_significant);
  auto cause = found();
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->details["causes"].items()[0]["cause"].text(), "kernels_alike");
  EXPECT_NE(cause->cause.find("most kernels slowed down alike: 3 of 4 kernels, +33"), std::string::npos) << cause->cause;
  difference_.kernels[1].verdict = difference_.kernels[2].verdict = CallVerdict::not_significant;
  EXPECT_EQ(found()->details["causes"].items()[0]["cause"].text(), "slower_kernels");
}
TEST_F(DecidedKernel, SlowerHasARemedy) {
  kernel("gemm", 1e6, 2e6, CallVerdict::slower);
  const auto cause = found();
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->details["causes"].items()[0]["cause"].text(), "slower_kernels");
  EXPECT_NE(cause->recommendation.find("revert"), std::string::npos);
}
TEST_F(DecidedKernel, NoneWithoutEvidence) {
  kernel("gemm", 1e6, 2e6, CallVerdict::not_significant);
  kernel("new", 0, 2e6, CallVerdict::unknown);
  EXPECT_FALSE(found());
}
TEST_F(DecidedKernel, NoneBelowTheThreshold) {
  kernel("gemm", 1e9, 1e9, CallVerdict::not_significant);
  kernel("small", 1e6, 2e6, CallVerdict::slower);
  EXPECT_FALSE(found());
}
TEST_F(DecidedKernel, NoneWhereKernelsChangedInBothDirections) {
  kernel("gemm", 1e6, 2e6, CallVerdict::slower);
  kernel("conv", 2e6, 1.2e6, CallVerdict::faster);
  EXPECT_FALSE(found());
}
TEST_F(DecidedKernel, NamesTheGridOfAKernelWithSeveral) {
  kernel("gemm", 3e6, 3.4e6, CallVerdict::slower);
  auto& gemm = difference_.kernels.back();
  analytics::tracediff::GridChange slow, same;
  slow.grid = {264, 1, 1};
  slow.a.mean_ns = 1e6, slow.b.mean_ns = 1.4e6, slow.call_ratio = 0.4, slow.time_part_ns = 0.4e6;
  slow.verdict = CallVerdict::slower;
  same.grid = {33, 1, 1};
  same.verdict = CallVerdict::not_significant;
  gemm.grids = {slow, same};
  const auto cause = found();
  ASSERT_TRUE(cause);
  EXPECT_NE(cause->cause.find("gemm at grid 264x1x1: 1.40 ms per call instead of 1.00 ms (+40.0 %)"), std::string::npos)
      << cause->cause;
  EXPECT_EQ(cause->details["causes"].items()[0]["grid"].text(), "264x1x1");
}
TEST_F(DecidedKernel, NoneWithoutKernels) { EXPECT_FALSE(found()); }

}  // namespace
}  // namespace aaco::workflows
