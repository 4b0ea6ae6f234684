#include "collectors/nvml/nvml_collector.h"

#include <gtest/gtest.h>

#include "collectors/nvml/device_sources.h"
#include "core/handles.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_machine.h"

namespace aaco::collectors::nvml {
namespace {

using aaco::testing::CollectorBench;

// The library under the collector: the loader gives everybody the same copy of it.
class NvmlCollector : public ::testing::Test {
 protected:
  void set(int init_result, unsigned devices, int lost_device, int no_energy, unsigned step) {
    library_.function<void (*)(int, unsigned, int, int, unsigned)>("fake_nvml_set")(init_result, devices, lost_device, no_energy,
                                                                                    step);
  }
  int open_count() { return library_.function<int (*)()>("fake_nvml_open")(); }
  int energy_calls() { return library_.function<int (*)()>("fake_nvml_energy_calls")(); }
  void SetUp() override { set(0, 2, -1, 0, 0); }

  core::SharedLibrary library_ = *core::SharedLibrary::open(AACO_FAKE_NVML);
  std::string root_ = aaco::testing::machine_root("xeon_powersave");
  CollectorBench bench_{[](std::unique_ptr<core::Clock> clock) { return make_collector(AACO_FAKE_NVML, std::move(clock)); },
                        root_};
};

TEST_F(NvmlCollector, ReadsEachDevice) {
  ASSERT_TRUE(bench_.open());
  bench_.sample_after(0);
  EXPECT_EQ(bench_.gpu(0, "gpu.use_ratio", "nvml"), 0.8);
  EXPECT_DOUBLE_EQ(bench_.gpu(1, "gpu.use_ratio", "nvml").value_or(-1), 0.81);
  EXPECT_EQ(bench_.gpu(1, "gpu.memory_use_ratio", "nvml"), 0.4);
  EXPECT_EQ(bench_.gpu(0, "gpu.vram_used_bytes", "nvml"), 3.0 * (1 << 30));
  EXPECT_EQ(bench_.gpu(0, "gpu.power_watts", "nvml"), 350.5);
  EXPECT_EQ(bench_.gpu(0, "gpu.power_watts", "nvml.instant"), 402);
  EXPECT_EQ(bench_.gpu(0, "gpu.energy_joules", "nvml"), 5000);
  EXPECT_EQ(bench_.gpu(0, "gpu.clock_hz", "nvml"), 1980e6);
  EXPECT_EQ(bench_.gpu(0, "gpu.memory_clock_hz", "nvml"), 2619e6);
  EXPECT_EQ(bench_.gpu(0, "gpu.temperature_celsius", "nvml"), 61);
  EXPECT_EQ(bench_.gpu(0, "gpu.throttle_power_flag", "nvml"), 1);
  EXPECT_EQ(bench_.gpu(0, "gpu.throttle_thermal_flag", "nvml"), 0);
  EXPECT_EQ(bench_.gpu(0, "gpu.power_cap_watts", "nvml"), 700);
  EXPECT_EQ(bench_.gpu(0, "gpu.pcie_speed_transfers_per_second", "nvml"), 32e9);
  EXPECT_EQ(bench_.gpu(0, "gpu.ecc_correctable_count", "nvml"), 9);
  EXPECT_EQ(bench_.gpu(0, "gpu.ecc_uncorrectable_count", "nvml"), 1);
  EXPECT_EQ(bench_.gpu(0, "gpu.throttled_power_ratio", "nvml"), std::nullopt);  // a difference
}
TEST_F(NvmlCollector, ThrottledTimeIsAShareOfTheInterval) {
  ASSERT_TRUE(bench_.open());
  bench_.sample_after(0);
  set(0, 2, -1, 0, 1);
  bench_.sample_after(0.1);
  EXPECT_DOUBLE_EQ(bench_.gpu(0, "gpu.throttled_power_ratio", "nvml").value_or(-1), 0.25);
  EXPECT_EQ(bench_.gpu(0, "gpu.throttled_thermal_ratio", "nvml"), 0);
  EXPECT_EQ(bench_.gpu(0, "gpu.energy_joules", "nvml"), 5035);
  bench_.collector().forget();
  bench_.sample_after(0.1);
  EXPECT_EQ(bench_.gpu(0, "gpu.throttled_power_ratio", "nvml"), std::nullopt);
}
TEST_F(NvmlCollector, DoesNotRetryUnsupportedQueries) {
  set(0, 1, -1, 1, 0);
  ASSERT_TRUE(bench_.open());
  const int before = energy_calls();
  for (int i = 0; i < 5; ++i) bench_.sample_after(0.05);
  EXPECT_EQ(energy_calls() - before, 1);
  EXPECT_EQ(bench_.gpu(0, "gpu.energy_joules", "nvml"), std::nullopt);
  EXPECT_EQ(bench_.collector().account().dropped_total(), 0);
}
TEST_F(NvmlCollector, LostDeviceDoesNotStopOthers) {
  ASSERT_TRUE(bench_.open());
  set(0, 2, 0, 0, 0);
  bench_.sample_after(0);
  EXPECT_EQ(bench_.gpu(0, "gpu.power_watts", "nvml"), std::nullopt);
  EXPECT_EQ(bench_.gpu(1, "gpu.power_watts", "nvml"), 350.5);
  EXPECT_GT(bench_.collector().account().dropped.at("nvml: the GPU is lost"), 0);
}
TEST_F(NvmlCollector, NumbersDevicesAfterAmdGpus) {
  CollectorBench bench([](std::unique_ptr<core::Clock> clock) { return make_collector(AACO_FAKE_NVML, std::move(clock)); },
                       aaco::testing::machine_root("epyc_mi300x"));
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_EQ(bench.gpu(0, "gpu.power_watts", "nvml"), std::nullopt);
  EXPECT_EQ(bench.gpu(2, "gpu.power_watts", "nvml"), 350.5);
}
TEST_F(NvmlCollector, TheLibraryIsShutDownOnce) {
  const int before = open_count();
  ASSERT_TRUE(bench_.open());
  EXPECT_EQ(open_count(), before + 1);
  bench_.collector().close();
  EXPECT_EQ(open_count(), before);
  bench_.collector().close();
  EXPECT_EQ(open_count(), before);
}
TEST_F(NvmlCollector, AMissingLibraryIsUnsupportedWithAReason) {
  const auto status = make_collector("libno-such-library.so.9")->open({root_}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
  EXPECT_NE(status.error().message.find("libno-such-library"), std::string::npos);
}
TEST_F(NvmlCollector, RefusesForeignLibrary) {
  const auto status = make_collector("libm.so.6")->open({root_}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
}
TEST_F(NvmlCollector, ReportsUnloadedDriver) {
  set(9, 2, -1, 0, 0);
  const auto status = bench_.open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
  EXPECT_NE(status.error().message.find("Driver Not Loaded"), std::string::npos);
}
TEST_F(NvmlCollector, ReportsMissingPermission) {
  set(4, 2, -1, 0, 0);
  EXPECT_EQ(bench_.open().error().code, core::ErrorCode::permission);
}
TEST_F(NvmlCollector, NoDeviceIsUnsupported) {
  set(0, 0, -1, 0, 0);
  EXPECT_EQ(bench_.open().error().code, core::ErrorCode::unsupported);
}
TEST(PcieSpeed, KnowsGenerations) {
  EXPECT_EQ(pcie_speed(4), 16e9);
  EXPECT_EQ(pcie_speed(0), std::nullopt);
  EXPECT_EQ(pcie_speed(7), std::nullopt);
}

}  // namespace
}  // namespace aaco::collectors::nvml
