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

constexpr KernelParts kAllCompute = {1, 0, 0};

std::string class_of(const GpuLimitShares& given, const KernelParts& parts = kAllCompute) {
  const auto found = gpu_bottleneck(given, parts, {});
  return found ? found->class_id : std::string();
}

TEST(GpuBottleneck, TheLargestShareDecides) {
  EXPECT_EQ(class_of(shares(0.5, 0.1, 0.1, 0.1, 0.2)), "compute_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.5, 0.1, 0.1, 0.2)), "communication_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.5, 0.1, 0.2)), "copy_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.1, 0.5, 0.2)), "launch_bound");
  EXPECT_EQ(class_of(shares(0.1, 0.1, 0.1, 0.2, 0.5)), "host_waiting");
}

TEST(GpuBottleneck, KernelTimeIsDividedByWhatLimitsTheKernels) {
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), {1, 0, 0}), "compute_bound");
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), {0, 1, 0}), "memory_bound");
  EXPECT_EQ(class_of(shares(0.6, 0, 0, 0, 0.4), {0.5, 0.5, 0}), "host_waiting") << "0.3 each is less than 0.4";
}

TEST(GpuBottleneck, KernelsOfUnknownWorkKeepTheDeviceBusy) {
  const auto found = gpu_bottleneck(shares(0.9, 0, 0, 0, 0.1), {}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->class_id, kDeviceBusy) << "neither memory nor compute";
  EXPECT_EQ(found->evidence_class, kBusyHeadline);
  EXPECT_NE(found->undecided.find("90.0 % of the span"), std::string::npos) << found->undecided;
  EXPECT_EQ(found->ranking.front().class_id, kDeviceBusy);
}

TEST(GpuBottleneck, KernelsOfUnknownWorkNameNoLimit) {
  const auto found = gpu_bottleneck(shares(0.4, 0, 0.3, 0, 0.3), {}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->class_id, kInconclusive) << "less than half of the span";
  EXPECT_EQ(found->confidence, 0);
  EXPECT_EQ(found->ranking.front().class_id, kUnknownKernels);
  EXPECT_EQ(class_of(shares(0.4, 0, 0, 0, 0.6), {}), "host_waiting") << "the host is known to be late";
}

TEST(GpuBottleneck, SharesAddUpToOne) {
  const auto found = gpu_bottleneck(shares(0.4, 0, 0, 0.1, 0.3), kAllCompute, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->method, kGpuLimit);
  EXPECT_THAT(found->ranking[0].probability, DoubleNear(0.5, 1e-12)) << "0.4 of the 0.8 that has a cause";
  ASSERT_EQ(found->ranking.size(), 6U);
  double sum = 0, before = 1;
  for (const ClassScore& one : found->ranking) {
    EXPECT_LE(one.probability, before);
    before = one.probability;
    sum += one.probability;
  }
  EXPECT_THAT(sum, DoubleNear(1, 1e-12));
}

// A share of the time is not a probability.
TEST(GpuBottleneck, TheConfidenceIsThatOfJudgedCases) {
  const auto document = core::YamlNode::parse(
      "schema: 1\nsource: s\nclasses: [{id: headline.clear, right: 7, cases: 9}, {id: headline.close, right: 1, cases: 3}]",
      "table");
  ASSERT_TRUE(document) << document.error().message;
  const auto table = confidence::Table::parse(*document);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.01, 0, 0, 0, 0.99), kAllCompute, *table)->confidence, 0.75);
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.2, 0, 0, 0, 0.5), kAllCompute, *table)->confidence, 0.75);
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.4, 0, 0, 0, 0.5), kAllCompute, *table)->confidence, 0.375);
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.4, 0, 0, 0, 0.5), kAllCompute, {})->confidence, 0.5) << "nothing was judged";
  const auto sure = core::YamlNode::parse("schema: 1\nsource: s\nclasses: [{id: headline.clear, right: 99, cases: 99}]", "table");
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.01, 0, 0, 0, 0.99), kAllCompute, *confidence::Table::parse(*sure))->confidence, 0.95)
      << "on unseen traces less is right";
  const auto close =
      core::YamlNode::parse("schema: 1\nsource: s\nclasses: [{id: headline.close, right: 99, cases: 99}]", "table");
  EXPECT_DOUBLE_EQ(gpu_bottleneck(shares(0.4, 0, 0, 0, 0.5), kAllCompute, *confidence::Table::parse(*close))->confidence, 0.89);
  EXPECT_EQ(gpu_bottleneck(shares(0.9, 0, 0, 0, 0.1), {}, *table)->confidence, 0.5) << "the table lacks headline.busy";
}

TEST(GpuBottleneck, EvidenceIsOfTheSharesThatThereAre) {
  const auto found = gpu_bottleneck(shares(0.4, 0, 0, 0.1, 0.3), {0.75, 0.25, 0}, {});
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
  EXPECT_FALSE(gpu_bottleneck({}, kAllCompute, {}));
  EXPECT_FALSE(gpu_bottleneck({}, {}, {}));
}

TEST(KernelParts, AddUpToOne) {
  EXPECT_EQ(parts_of(1, 1, 2).unknown, 0.5);
  EXPECT_EQ(parts_of(3, 1, 0).compute, 0.75);
  EXPECT_EQ(parts_of(0, 0, 0).unknown, 1) << "no kernel time";
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
