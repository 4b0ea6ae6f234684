#include "analytics/kernel_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::analytics::roofline {
namespace {

using ::testing::HasSubstr;

// 100 TFLOP/s in float16 and 1 TB/s.
hardware::Device device() {
  hardware::Device device;
  hardware::Engine engine;
  engine.kind = hardware::EngineKind::matrix;
  engine.rates.push_back({"float16", std::nullopt, hardware::Figure{100e12, "s", {}}, std::nullopt});
  device.engines.push_back(engine);
  device.memory.bytes_per_s = hardware::Figure{1e12, "s", {}};
  return device;
}

class KernelLimitTest : public ::testing::Test {
 protected:
  trace::KernelGroupRow kernel(std::int64_t sum_ns, std::int64_t count = 1, std::string_view family = "gemm") {
    trace::KernelGroupRow row;
    row.kernel_name = names_.intern("k");
    row.family = names_.intern(family);
    row.kernel_count = count;
    row.kernel_sum_ns = sum_ns;
    row.kernel_min_ns = row.kernel_max_ns = count > 0 ? sum_ns / count : 0;
    return row;
  }
  // Work of all of it in 1 ms.
  GroupWork work(double flops, double bytes, std::string counters = {}) {
    GroupWork group;
    group.kernel = names_.intern("k");
    group.dtype = "float16";
    group.count = 1;
    group.time_ns = 1e6;
    group.flops = flops;
    group.bytes = bytes;
    group.counters = std::move(counters);
    return group;
  }
  KernelLimit judge(const trace::KernelGroupRow& row, const KnownWork& known, bool has_device = true) {
    const auto limits = kernel_limits(std::span(&row, 1), known, names_, has_device ? &device_ : nullptr);
    return limits.at(0);
  }
  KernelLimit shaped(double flops, double bytes) { return judge(kernel(1'000'000), {{work(flops, bytes)}, {}}); }
  KernelLimit counted(double flops, double bytes, bool has_device = true) {
    return judge(kernel(1'000'000), {{}, {work(flops, bytes, "FETCH_SIZE")}}, has_device);
  }
  trace::NameTable names_;
  hardware::Device device_ = device();
};

TEST_F(KernelLimitTest, UnknownWorkIsNotMemoryBound) {
  for (const char* family : {"gemm", "elementwise", "other", "softmax"}) {
    const auto limit = judge(kernel(1'000'000, 1, family), {});
    EXPECT_EQ(limit.bound, KernelBound::unknown) << family;
    EXPECT_EQ(limit.evidence, LimitEvidence::no_work) << family;
  }
}
TEST_F(KernelLimitTest, ShapesDecide) {
  EXPECT_EQ(shaped(60e9, 1e8).bound, KernelBound::compute);
  EXPECT_EQ(shaped(60e9, 1e8).evidence, LimitEvidence::shapes_near);
  EXPECT_EQ(shaped(1e9, 4.5e8).bound, KernelBound::memory);
  EXPECT_EQ(shaped(1e9, 4.5e8).evidence, LimitEvidence::shapes_below);
  EXPECT_EQ(shaped(30e9, 1e7).bound, KernelBound::compute);
  EXPECT_EQ(shaped(0, 8e8).bound, KernelBound::memory) << "a copy";
}
TEST_F(KernelLimitTest, LowRatesOnBothRoofsNameNeither) {
  for (const double bytes : {2e8, 3e8, 3.9e8}) {
    EXPECT_EQ(shaped(1e9, bytes).bound, KernelBound::unknown) << bytes;
    EXPECT_EQ(counted(1e9, bytes).evidence, LimitEvidence::far_from_both) << bytes;
  }
  EXPECT_THAT(shaped(1e9, 3e8).text, HasSubstr("latency, occupancy or uncounted work"));
  EXPECT_EQ(shaped(20e9, 1e7).evidence, LimitEvidence::far_from_both);
}
TEST_F(KernelLimitTest, CountersDecideAndAreNamed) {
  const auto limit = counted(1e9, 7e8);
  EXPECT_EQ(limit.bound, KernelBound::memory);
  EXPECT_EQ(limit.evidence, LimitEvidence::counters_near);
  EXPECT_THAT(limit.text, HasSubstr("FETCH_SIZE"));
  EXPECT_THAT(limit.text, HasSubstr("700 GB/s"));
  EXPECT_EQ(counted(80e9, 7e8).bound, KernelBound::compute);
}
TEST_F(KernelLimitTest, CountersOfBothSidesPrecedeShapes) {
  const auto limit = judge(kernel(1'000'000), {{work(60e9, 1e6)}, {work(1e9, 7e8, "FETCH_SIZE")}});
  EXPECT_EQ(limit.bound, KernelBound::memory);
  const auto one_side = judge(kernel(1'000'000), {{work(60e9, 1e6)}, {work(0, 7e8, "FETCH_SIZE")}});
  EXPECT_EQ(one_side.bound, KernelBound::compute) << "shapes precede traffic alone";
}
TEST_F(KernelLimitTest, TrafficAloneDecidesNearTheBandwidth) {
  EXPECT_EQ(counted(0, 7e8).bound, KernelBound::memory) << "not limited by arithmetic";
  EXPECT_EQ(counted(0, 7e8).evidence, LimitEvidence::traffic);
  EXPECT_EQ(counted(0, 1e8).bound, KernelBound::unknown) << "its operations may be many";
}
TEST_F(KernelLimitTest, FarFromBothRoofsIsUnknown) {
  EXPECT_EQ(shaped(5e9, 1e8).evidence, LimitEvidence::far_from_both);
  EXPECT_EQ(counted(5e9, 1e8).bound, KernelBound::unknown);
}
TEST_F(KernelLimitTest, WithoutDeviceOnlyHighTrafficDecides) {
  EXPECT_EQ(counted(0, 1.1e9, false).bound, KernelBound::memory);
  EXPECT_EQ(counted(0, 1.1e9, false).evidence, LimitEvidence::traffic_only);
  EXPECT_EQ(counted(0, 1e8, false).bound, KernelBound::unknown);
  EXPECT_EQ(counted(200e9, 1.1e9, false).bound, KernelBound::unknown) << "182 operations per byte";
  EXPECT_EQ(judge(kernel(1'000'000), {{work(1e9, 1e9)}, {}}, false).bound, KernelBound::unknown);
}
// 431 ms the first time and 0.63 ms the second: the first touch of the pages is no limit of the kernel.
TEST_F(KernelLimitTest, OutliersAreAnomalies) {
  auto row = kernel(431'629'000, 2, "other");
  row.kernel_min_ns = 629'000;
  row.kernel_max_ns = 431'000'000;
  auto traffic = work(0, 2 * 5e8, "FETCH_SIZE");
  traffic.count = 2;
  traffic.time_ns = 431'629'000;
  const auto limit = judge(row, {{}, {traffic}});
  EXPECT_EQ(limit.bound, KernelBound::memory);
  EXPECT_NEAR(*limit.memory_ratio, 0.795, 0.001) << "of the executions that are alike";
  ASSERT_TRUE(limit.outlier_ns);
  EXPECT_THAT(limit.text, HasSubstr("anomaly: 1 of 2 executions took 431 ms, the others 629 µs"));
  EXPECT_DOUBLE_EQ(limit_times(std::span(&limit, 1)).unknown_ns, 431'000'000);
}
TEST_F(KernelLimitTest, CollectivesAndKernelsWithoutTime) {
  EXPECT_EQ(judge(kernel(1'000'000, 1, "collective"), {}).bound, KernelBound::communication);
  EXPECT_EQ(judge(kernel(0), {{}, {work(1e9, 1e9, "FETCH_SIZE")}}).evidence, LimitEvidence::no_time);
}
TEST_F(KernelLimitTest, ShapesMustCoverTheTime) {
  EXPECT_EQ(judge(kernel(3'000'000), {{work(60e9, 1e8)}, {}}).bound, KernelBound::unknown) << "known for a third of its time";
}
TEST_F(KernelLimitTest, WorkIsKnownWithoutDevice) {
  const auto limit = judge(kernel(1'000'000), {{work(60e9, 1e8)}, {}}, false);
  EXPECT_EQ(limit.flops, 60e9);
  EXPECT_EQ(limit.bytes, 1e8);
  EXPECT_FALSE(judge(kernel(1'000'000), {}, false).flops);
}
TEST_F(KernelLimitTest, TimesByLimit) {
  KernelLimit compute, memory, unknown, collective;
  compute.bound = KernelBound::compute;
  memory.bound = KernelBound::memory;
  collective.bound = KernelBound::communication;
  compute.time_ns = 1;
  memory.time_ns = 2;
  unknown.time_ns = 3;
  collective.time_ns = 4;
  EXPECT_EQ(limit_times(std::vector{compute, memory, unknown, collective}), (LimitTimes{1, 2, 3}));
}

class CountedTest : public ::testing::Test {
 protected:
  void count(const char* counter, double value) { work_.add({0, 0, 1, names_.intern("k"), names_.intern(counter), value}); }
  std::vector<GroupWork> counted() {
    trace::KernelGroupRow group;
    group.kernel_name = names_.intern("k");
    group.kernel_count = 1;
    group.kernel_sum_ns = 100;
    return work_.counted({group});
  }
  trace::NameTable names_;
  CounterWork work_{names_};
};

TEST_F(CountedTest, TrafficAlone) {
  count("FETCH_SIZE", 3);
  count("WRITE_SIZE", 1);
  const auto list = counted();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].bytes, 4096);
  EXPECT_EQ(list[0].flops, 0);
  EXPECT_THAT(list[0].counters, HasSubstr("WRITE_SIZE"));
}
TEST_F(CountedTest, RequestsOfTheL2) {
  count("TCC_EA0_RDREQ_sum", 10);
  count("TCC_EA0_RDREQ_32B_sum", 2);
  count("TCC_BUBBLE_sum", 3);
  count("TCC_EA0_WRREQ_sum", 5);
  count("TCC_EA0_WRREQ_64B_sum", 4);
  ASSERT_EQ(counted().size(), 1U);
  EXPECT_EQ(counted()[0].bytes, 3 * 128 + 5 * 64 + 2 * 32 + 4 * 64 + 1 * 32);
}
TEST_F(CountedTest, DramBytesCountOnce) {
  count("dram__bytes.sum", 300);
  count("dram__bytes_read.sum", 200);
  count("dram__bytes_write.sum", 100);
  EXPECT_EQ(counted().at(0).bytes, 300);
}
TEST_F(CountedTest, OtherCountersAreNoWork) {
  count("SQ_WAVES", 100);
  EXPECT_TRUE(counted().empty());
}

}  // namespace
}  // namespace aaco::analytics::roofline
