#include "analytics/gpu_bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace aaco::analytics::bottleneck {
namespace {

using testing::DoubleNear;

GpuLimitShares shares(double compute, double communication, double copy, double launch, double waiting) {
  return {compute, communication, copy, launch, waiting};
}

std::string class_of(const GpuLimitShares& given, std::optional<double> computing = 1.0) {
  const auto found = gpu_bottleneck(given, computing);
  return found ? found->class_id : std::string();
}

struct Kernel {
  std::string_view family;
  std::int64_t sum_ns;
};

std::optional<double> share_of(const std::vector<Kernel>& kernels) {
  trace::NameTable names;
  std::vector<trace::KernelGroupRow> rows;
  for (const Kernel& kernel : kernels) {
    auto& row = rows.emplace_back();
    row.family = names.intern(kernel.family);
    row.kernel_sum_ns = kernel.sum_ns;
  }
  return computing_share(rows, names);
}

TEST(GpuBottleneck, TheLargestShareDecides) {
  EXPECT_EQ(class_of(shares(0.5, 0.1, 0.1, 0.1, 0.2)), "compute_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.5, 0.1, 0.1, 0.2)), "communication_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.5, 0.1, 0.2)), "copy_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.1, 0.5, 0.2)), "launch_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.1, 0.2, 0.5)), "host_waiting");
}

TEST(GpuBottleneck, KernelTimeIsDividedByWhatComputes) {
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), 1), "compute_bound");
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), 0), "memory_bound");
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), 0.5), "host_waiting") << "0.3 each is less than 0.4";
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), std::nullopt), "host_waiting") << "unknown families count by halves";
}

TEST(GpuBottleneck, SharesBecomeProbabilities) {
  const auto found = gpu_bottleneck(shares(0.4, 0, 0, 0.1, 0.3), 1.0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->method, kGpuLimit);
  EXPECT_THAT(found->confidence, DoubleNear(0.5, 1e-12)) << "0.4 of the 0.8 that has a cause";
  ASSERT_EQ(found->ranking.size(), 6U);
  double sum = 0, before = 1;
  for (const ClassScore& one : found->ranking) {
    EXPECT_LE(one.probability, before);
    before = one.probability;
    sum += one.probability;
  }
  EXPECT_THAT(sum, DoubleNear(1, 1e-12));
}

TEST(GpuBottleneck, EvidenceIsOfTheSharesThatThereAre) {
  const auto found = gpu_bottleneck(shares(0.4, 0, 0, 0.1, 0.3), 0.75);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->evidence.size(), 4U);
  EXPECT_EQ(found->evidence[0].signal, "gpu.compute_kernels_ratio");
  EXPECT_EQ(found->evidence[1].signal, "gpu.waiting_ratio");
  EXPECT_THAT(found->evidence[0].value, DoubleNear(0.3, 1e-12));
  EXPECT_EQ(found->evidence[0].value, found->evidence[0].weight);
  EXPECT_EQ(found->evidence[3].signal, "gpu.launch_ratio") << "after 0.1 of kernels that move bytes";
}

TEST(GpuBottleneck, EqualSharesKeepTheOrderOfTheClasses) {
  EXPECT_EQ(class_of(shares(0.25, 0.25, 0.25, 0.25, 0)), "compute_bound");
  EXPECT_EQ(class_of(shares(0, 0, 0.5, 0.5, 0)), "copy_bound");
}

TEST(GpuBottleneck, NoWorkHasNone) {
  EXPECT_FALSE(gpu_bottleneck({}, 1.0));
  EXPECT_FALSE(gpu_bottleneck({}, std::nullopt));
}

TEST(ComputingShare, OfProductsConvolutionsAndAttention) {
  EXPECT_EQ(share_of({{"gemm", 100}, {"elementwise", 300}}), 0.25);
  EXPECT_EQ(share_of({{"convolution", 100}, {"attention", 100}}), 1);
  EXPECT_EQ(share_of({{"reduction", 100}, {"", 50}}), 0);
}

TEST(ComputingShare, WithoutKernelTimeIsUnknown) {
  EXPECT_FALSE(share_of({}));
  EXPECT_FALSE(share_of({{"gemm", 0}}));
}

TEST(LeastBusy, IsTheDeviceWithTheSmallestShare) {
  const std::array devices = {GpuDevice{90, 100, {}}, GpuDevice{50, 200, {}}, GpuDevice{60, 100, {}}};
  EXPECT_EQ(least_busy(devices), 1U);
  const std::array equal = {GpuDevice{50, 100, {}}, GpuDevice{50, 100, {}}};
  EXPECT_EQ(least_busy(equal), 0U);
}

TEST(LeastBusy, DevicesWithoutTimesDoNotCount) {
  const std::array devices = {GpuDevice{std::nullopt, 100, {}}, GpuDevice{1, std::nullopt, {}}, GpuDevice{1, 0, {}},
                              GpuDevice{99, 100, {}}};
  EXPECT_EQ(least_busy(devices), 3U);
  EXPECT_FALSE(least_busy(std::span(devices).first(3)));
  EXPECT_FALSE(least_busy({}));
}

}  // namespace
}  // namespace aaco::analytics::bottleneck
