#include "workflows/gpu_roofline.h"

#include <gtest/gtest.h>

#include "hardware/registry.h"
#include "tests/support/shipped_device.h"

namespace aaco::workflows {
namespace {

// Winograd's convolutions do less than is counted: they do not hide how far the others are from their limits.
TEST(GpuRoofline, AKernelAboveItsRoofMakesUpForNoOther) {
  trace::NameTable names;
  const auto product = [&](const char* name, double time_ns) {
    analytics::roofline::GroupWork work;
    work.kernel = names.intern(name);
    work.family = analytics::fingerprint::Family::gemm;
    work.dtype = "bfloat16";
    work.count = 1;
    work.flops = 2.0 * 4096 * 4096 * 4096;
    work.bytes = 3 * 2.0 * 4096 * 4096;
    work.time_ns = time_ns;
    return work;
  };
  const core::Result<hardware::Device> device = hardware::shipped_device("amd_instinct_mi300x_192gb");
  const auto roofline = make_roofline({product("slow", 210'000), product("above", 50'000)}, names, device);
  ASSERT_EQ(roofline.kernels.size(), 2U) << roofline.reason;
  // 137.4 GFLOP at 1307.4 TFLOP/s are 105 us: of the second all of its 50.
  EXPECT_NEAR(roofline.ideal_ns / roofline.known_ns, (105.1 + 50) / 260, 0.001);
  EXPECT_GT(roofline.kernels[1].placed.reached_ratio, 2);
}

}  // namespace
}  // namespace aaco::workflows
