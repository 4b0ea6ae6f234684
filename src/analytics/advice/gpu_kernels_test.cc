#include <gtest/gtest.h>

#include "analytics/gpu_advice.h"

namespace aaco::analytics::advice {
namespace {

class Kernels {
 public:
  Kernels& add(std::string_view name, std::int64_t count, std::int64_t sum_ns, std::int32_t rank = 0, std::int64_t device = 0) {
    auto& row = rows_.emplace_back();
    row.rank = rank;
    row.device = device;
    row.kernel_name = names_.intern(name);
    row.family = names_.intern("gemm");
    row.kernel_count = count;
    row.kernel_sum_ns = sum_ns;
    return *this;
  }
  [[nodiscard]] std::vector<GpuKernel> of(std::int32_t rank, std::int64_t device, std::vector<KernelRoof> roofs = {}) const {
    return gpu_kernels(rows_, names_, rank, device, roofs);
  }

 private:
  trace::NameTable names_;
  std::vector<trace::KernelGroupRow> rows_;
};

TEST(GpuKernels, RowsOfOneNameAddUp) {
  const auto kernels = Kernels().add("b", 1, 5).add("a", 2, 100).add("a", 3, 50).of(0, 0);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[0].family, "gemm");
  EXPECT_EQ(kernels[0].count, 5);
  EXPECT_EQ(kernels[0].sum_ns, 150);
  EXPECT_FALSE(kernels[0].ideal_ns) << "without a roof it is not known";
}

TEST(GpuKernels, OnlyOfTheDeviceAskedFor) {
  Kernels all;
  all.add("a", 1, 10, 0, 0).add("a", 1, 20, 1, 0).add("a", 1, 40, 0, 1);
  EXPECT_EQ(all.of(0, 0).at(0).sum_ns, 10);
  EXPECT_EQ(all.of(1, 0).at(0).sum_ns, 20);
  EXPECT_EQ(all.of(0, 1).at(0).sum_ns, 40);
  EXPECT_TRUE(all.of(7, 0).empty());
}

TEST(GpuKernels, RoofRemovesTimeAboveIt) {
  Kernels one;
  one.add("a", 2, 100);
  const auto half = one.of(0, 0, {{"a", 80, 0.25, true}}).at(0);
  EXPECT_EQ(half.ideal_ns, 25) << "a quarter: the rest of its executions is like the 80 that are known";
  EXPECT_TRUE(half.memory_roof);
  EXPECT_EQ(one.of(0, 0, {{"a", 40, 0.5, false}, {"a", 40, 0.25, false}}).at(0).ideal_ns, 37.5) << "each shape takes its part";
  EXPECT_EQ(one.of(0, 0, {{"a", 40, 0.25, true}}).at(0).ideal_ns, 70) << "where less than half is known the rest stays";
}

TEST(GpuKernels, AShorterTypeSavesOfAllExecutions) {
  Kernels one;
  one.add("a", 4, 200);
  const auto known = one.of(0, 0, {{"a", 100, 0.8, false, "tf32", 0.25}}).at(0);  // the work of half of them is known
  EXPECT_EQ(known.faster_dtype, "tf32");
  EXPECT_EQ(known.faster_saved_ns, 150);
}

TEST(GpuKernels, RoofsNeverLengthenNorGoBelowZero) {
  Kernels one;
  one.add("a", 2, 100);
  EXPECT_EQ(one.of(0, 0, {{"a", 80, 1.5, false}}).at(0).ideal_ns, 100);
  EXPECT_EQ(one.of(0, 0, {{"a", 900, 0, false}}).at(0).ideal_ns, 0);
}

TEST(GpuKernels, NoKernelIsFasterThanTheShortest) {
  Kernels both;
  both.add("a", 4, 100).add("short", 10, 20);
  EXPECT_EQ(both.of(0, 0, {{"a", 100, 0.01, false}}).at(0).ideal_ns, 8) << "four times 2 ns";
  EXPECT_EQ(both.of(0, 0, {{"a", 100, 0.9, false}}).at(0).ideal_ns, 90);
  EXPECT_EQ(both.of(0, 0, {{"short", 20, 0.1, false}}).at(1).ideal_ns, 20);
}

TEST(GpuKernels, RoofsOfOtherKernelsCountNowhere) {
  EXPECT_FALSE(Kernels().add("a", 2, 100).of(0, 0, {{"b", 80, 0.5, false}}).at(0).ideal_ns);
  EXPECT_TRUE(Kernels().of(0, 0, {{"b", 80, 0.5, false}}).empty());
}

}  // namespace
}  // namespace aaco::analytics::advice
