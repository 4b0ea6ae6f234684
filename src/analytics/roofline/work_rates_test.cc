#include "analytics/work_rates.h"

#include <gtest/gtest.h>

namespace aaco::analytics::roofline {
namespace {

hardware::Device rated_device() {
  hardware::Device device;
  hardware::Engine engine;
  engine.kind = hardware::EngineKind::matrix;
  engine.rates.push_back({"float32", std::nullopt, hardware::Figure{10e12, "s", {}}, std::nullopt});
  engine.rates.push_back({"tf32", std::nullopt, hardware::Figure{40e12, "s", {}}, std::nullopt});
  engine.rates.push_back({"bfloat16", std::nullopt, hardware::Figure{100e12, "s", {}}, std::nullopt});
  device.engines.push_back(engine);
  device.memory.bytes_per_s = hardware::Figure{1e12, "s", {}};
  return device;
}

GroupWork work(std::uint32_t kernel, const char* dtype, double time_ns, double flops, double bytes) {
  GroupWork group;
  group.kernel = {kernel};
  group.dtype = dtype;
  group.count = 2;
  group.time_ns = time_ns;
  group.flops = flops;
  group.bytes = bytes;
  return group;
}
GroupWork counted(std::uint32_t kernel, const char* counters, double time_ns, double flops, double bytes) {
  GroupWork group = work(kernel, "", time_ns, flops, bytes);
  group.source = WorkSource::counters;
  group.counters = counters;
  return group;
}
std::vector<WorkRate> rates(std::vector<GroupWork> works, const hardware::Device* device = nullptr) {
  trace::NameTable names;  // ids as in the works
  while (names.size() < 10) names.intern("kernel " + std::to_string(names.size()));
  return kernel_rates(works, names, device);
}

TEST(WorkRates, AreWorkOverTime) {
  const auto list = rates({work(1, "bfloat16", 1e6, 2e9, 3e6)});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_DOUBLE_EQ(*list[0].flops_per_s, 2e12);
  EXPECT_DOUBLE_EQ(*list[0].bytes_per_s, 3e9);
  EXPECT_EQ(list[0].source, "shapes");
}
TEST(WorkRates, UnknownWorkStaysAbsent) {
  const auto list = rates({work(1, "bfloat16", 1e6, 0, 3e6)});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_FALSE(list[0].flops);
  EXPECT_FALSE(list[0].flops_per_s);
}
TEST(WorkRates, NeitherFlopsNorBytesYieldsNoRate) { EXPECT_TRUE(rates({work(1, "bfloat16", 1e6, 0, 0)}).empty()); }
TEST(WorkRates, NoDurationYieldsNoRate) { EXPECT_TRUE(rates({work(1, "bfloat16", 0, 2e9, 3e6)}).empty()); }
TEST(WorkRates, UnknownDeviceHasNoRatio) {
  const auto list = rates({work(1, "bfloat16", 1e6, 2e9, 3e6)});
  EXPECT_FALSE(list[0].flops_ratio || list[0].bytes_ratio || list[0].peak_flops_per_s || list[0].peak_bytes_per_s);
}
TEST(WorkRates, RatioIsOfTheStatedPeakOfTheType) {
  const auto device = rated_device();
  const auto list = rates({work(1, "bfloat16", 1e6, 2e9, 3e6)}, &device);
  ASSERT_TRUE(list[0].flops_ratio && list[0].bytes_ratio);
  EXPECT_DOUBLE_EQ(*list[0].flops_ratio, 0.02);
  EXPECT_DOUBLE_EQ(*list[0].bytes_ratio, 0.003);
}
TEST(WorkRates, TypeWithoutAPeakHasNoRatio) {
  const auto device = rated_device();
  const auto list = rates({work(1, "decimal", 1e6, 2e9, 3e6)}, &device);
  EXPECT_FALSE(list[0].flops_ratio);
  EXPECT_TRUE(list[0].bytes_ratio);
}
TEST(WorkRates, FasterThanFloat32CanBeIsTf32) {
  const auto device = rated_device();
  const auto list = rates({work(1, "float32", 1e6, 20e9, 0)}, &device);
  EXPECT_EQ(list[0].dtype, "tf32");
  EXPECT_DOUBLE_EQ(*list[0].flops_ratio, 0.5);
  EXPECT_EQ(rates({work(1, "float32", 1e6, 9e9, 0)}, &device)[0].dtype, "float32");
}
TEST(WorkRates, Tf32ByItsName) {
  trace::NameTable names;
  const auto name = names.intern("cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4");
  EXPECT_EQ(kernel_rates(std::vector{work(name.value, "float32", 1e6, 1e9, 0)}, names, nullptr)[0].dtype, "tf32");
  EXPECT_EQ(kernel_rates(std::vector{work(name.value, "float64", 1e6, 1e9, 0)}, names, nullptr)[0].dtype, "float64");
}
TEST(WorkRates, ShapesAndCountersAreNeverAddedUp) {
  const auto list = rates({work(1, "", 1e6, 2e9, 3e6), counted(1, "FETCH_SIZE", 1e6, 0, 5e6)});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[1].source == "FETCH_SIZE" || list[0].source == "FETCH_SIZE", true);
}
TEST(WorkRates, GroupsOfOneKernelTypeAndSourceAreOne) {
  const auto list = rates({work(1, "float16", 1e6, 2e9, 3e6), work(1, "float16", 3e6, 2e9, 3e6), work(1, "float32", 1e6, 1, 1)});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].count, 4);
  EXPECT_DOUBLE_EQ(*list[0].flops_per_s, 1e12);
}
TEST(WorkRates, LongestTimeIsFirst) {
  const auto list = rates({work(1, "float16", 1e6, 1, 1), work(2, "float16", 3e6, 1, 1)});
  EXPECT_EQ(list[0].name.value, 2U);
}

SiteGroup site(double flops, std::int64_t count, int kernels, double time_ns) {
  SiteGroup group;
  group.operator_name = {7};
  group.work.flops = flops;
  group.work.dtype = "float32";
  group.work.kernels = kernels;
  group.count = count;
  group.time_ns = time_ns;
  return group;
}
TEST(WorkRates, OperatorsAddUpOverTheirShapes) {
  const auto list = operator_rates(std::vector{site(1e9, 2, 1, 1e6), site(3e9, 1, 2, 1e6)}, nullptr);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].subject, RateSubject::operation);
  EXPECT_EQ(list[0].count, 3);
  EXPECT_DOUBLE_EQ(*list[0].flops, 8e9);  // 2 calls of 1e9, one whose two kernels do 3e9 each
  EXPECT_DOUBLE_EQ(*list[0].flops_per_s, 4e12);
}
TEST(WorkRates, OperatorsWithoutTimeHaveNone) { EXPECT_TRUE(operator_rates(std::vector{site(1e9, 2, 1, 0)}, nullptr).empty()); }

}  // namespace
}  // namespace aaco::analytics::roofline
