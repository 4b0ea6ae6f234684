#include "analytics/kernel_pace.h"

#include <gtest/gtest.h>

namespace aaco::analytics::trace_time {
namespace {

constexpr int kSteps = 40;
constexpr std::int64_t kStepNs = 1'000'000;

struct Made {
  trace::NameId name;
  std::string family;
  std::int64_t ns = 100'000, groups = 1000;
  double growth = 0;     // of the duration over the whole trace
  int step_at = kSteps;  // from where on it takes `step` times as long
  double step = 1;
};

struct Trace {
  KernelPace pace;
  std::int64_t last_ns = 0;
};
Trace run(const std::vector<Made>& kernels, int steps = kSteps) {
  Trace out;
  for (int i = 0; i < steps; ++i) {
    std::int64_t at = i * kStepNs;
    for (const Made& one : kernels) {
      trace::KernelRow row;
      row.name = one.name;
      row.start_ns = at;
      const double factor = (1 + one.growth * i / (steps - 1)) * (i >= one.step_at ? one.step : 1) * (i % 2 == 0 ? 1.01 : 0.99);
      row.end_ns = at + static_cast<std::int64_t>(static_cast<double>(one.ns) * factor);
      row.grid_x = one.groups;
      at = row.end_ns + 1'000;
      out.last_ns = row.end_ns;
      out.pace.add(row, one.family);
    }
  }
  return out;
}
std::optional<SlowingKernels> slowing(const std::vector<Made>& kernels, int steps = kSteps) {
  const Trace trace = run(kernels, steps);
  return slowing_kernels(trace.pace.of(0, 0), 0, trace.last_ns);
}
const Made kGemm{{1}, "gemm"}, kNorm{{2}, "normalisation", 50'000}, kAttention{{3}, "attention", 80'000};
Made growing(Made one, double growth) {
  one.growth = growth;
  return one;
}
Made stepping(Made one, int at, double by) {
  one.step_at = at, one.step = by;
  return one;
}

TEST(KernelPace, AllSlowDownTogether) {
  const auto found = slowing({growing(kGemm, 0.4), growing(kNorm, 0.4), growing(kAttention, 0.4)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel_count, 3);
  EXPECT_DOUBLE_EQ(found->time_ratio, 1);
  EXPECT_NEAR(found->late_to_early_ratio, 1.35 / 1.05, 0.03);
  EXPECT_NEAR(found->excess_ns / (40 * 230'000 * 1.2), (1.2 - 1.05) / 1.2, 0.02);
}
TEST(KernelPace, OneStepCounts) {
  const auto found = slowing({stepping(kGemm, 20, 1.3), stepping(kNorm, 20, 1.3)});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->late_to_early_ratio, 1.3, 0.03);
}
TEST(KernelPace, SteadyKernelsDoNot) { EXPECT_FALSE(slowing({kGemm, kNorm, kAttention})); }
TEST(KernelPace, OneFamilyThatGrowsIsItsWork) {
  EXPECT_FALSE(slowing({kGemm, kNorm, growing(kAttention, 2)}));
  EXPECT_FALSE(slowing({growing(kAttention, 2)}));
}
TEST(KernelPace, SeveralKernelsOfOneFamilyThatSlowDownAlike) {
  const Made others[] = {{{4}, "gemm", 70'000}, {{5}, "gemm", 60'000}};
  const auto found = slowing({growing(kGemm, 0.4), growing(others[0], 0.4), growing(others[1], 0.4)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel_count, 3);
  EXPECT_FALSE(slowing({growing(kGemm, 0.4), growing(others[0], 0.4)})) << "two may share their input";
  EXPECT_FALSE(slowing({growing(kGemm, 0.2), growing(others[0], 0.6), growing(others[1], 1.2)})) << "not alike";
  EXPECT_FALSE(slowing({growing(kGemm, 0.4), growing(others[0], 0.4), growing(others[1], 0.4), kNorm}))
      << "another family does not";
}
TEST(KernelPace, FasterAtTheEndIsNotSlower) { EXPECT_FALSE(slowing({growing(kGemm, -0.3), growing(kNorm, -0.3)})); }
TEST(KernelPace, OneSlowMomentDoesNotCount) { EXPECT_FALSE(slowing({stepping(kGemm, 39, 5), stepping(kNorm, 39, 5)})); }
TEST(KernelPace, TooFewExecutionsTellNothing) { EXPECT_FALSE(slowing({growing(kGemm, 1), growing(kNorm, 1)}, 6)); }
TEST(KernelPace, ManyExecutionsKeepTheirCourse) {
  const Trace trace = run({growing(kGemm, 0.4), growing(kNorm, 0.4)}, 5000);
  for (const auto& one : trace.pace.of(0, 0)) EXPECT_LE(one.points.size(), KernelPace::kMaxPoints);
  const auto found = slowing_kernels(trace.pace.of(0, 0), 0, trace.last_ns);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->late_to_early_ratio, 1.35 / 1.05, 0.03);
}
TEST(KernelPace, CollectivesTakeWhatOthersLetThem) {
  Made collective{{4}, "collective"}, copy{{5}, "copy_transpose"};
  EXPECT_FALSE(slowing({growing(collective, 1), growing(copy, 0), kGemm}));
}
TEST(KernelPace, OtherDevicesAreNotCounted) {
  const Trace trace = run({kGemm});
  EXPECT_TRUE(trace.pace.of(0, 1).empty());
  EXPECT_TRUE(trace.pace.of(1, 0).empty());
}
TEST(KernelPace, KindsAreBounded) {
  KernelPace pace;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    trace::KernelRow row;
    row.name = {i + 1};
    row.end_ns = 10;
    pace.add(row, "gemm");
  }
  EXPECT_EQ(pace.of(0, 0).size(), KernelPace::kMaxKinds);
}

Made few(std::int64_t groups, std::int64_t ns = 100'000) { return {{1}, "sort_scan", ns, groups}; }
std::int64_t groups_of(const Made& one, double units) {
  const Trace trace = run({one});
  const auto found = few_groups(trace.pace.of(0, 0), units, trace.last_ns);
  return found ? found->group_count : 0;
}
TEST(FewGroups, CostlyKernelOnAPartOfTheDevice) { EXPECT_EQ(groups_of(few(8, 200'000), 304), 8); }
TEST(FewGroups, AGroupOnEachUnitIsEnough) { EXPECT_EQ(groups_of(few(304, 200'000), 304), 0); }
TEST(FewGroups, ShortKernelsAreAMatterOfTheirLaunch) {
  KernelPace pace;
  for (int i = 0; i < 100; ++i) {
    trace::KernelRow row;
    row.name = {1};
    row.start_ns = i * 11'000;
    row.end_ns = row.start_ns + 10'000;
    row.grid_x = 8;
    pace.add(row, "gemm");
  }
  EXPECT_FALSE(few_groups(pace.of(0, 0), 304, 1'100'000));
}
TEST(FewGroups, ASmallPartOfTheTimeIsNotWorthAWord) { EXPECT_EQ(groups_of(few(8, 50'000), 304), 0); }
TEST(FewGroups, WithoutAGridNothingIsKnown) {
  KernelPace pace;
  trace::KernelRow row;
  row.name = {1};
  row.end_ns = 1'000'000;
  pace.add(row, "gemm");
  EXPECT_FALSE(few_groups(pace.of(0, 0), 304, 1'000'000));
}

}  // namespace
}  // namespace aaco::analytics::trace_time
