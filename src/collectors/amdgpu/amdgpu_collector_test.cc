#include "collectors/amdgpu/amdgpu_collector.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/files.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_machine.h"
#include "tests/support/source_dir.h"

namespace aaco::collectors::amdgpu {
namespace {

using aaco::testing::CollectorBench;
using aaco::testing::FakeMachine;

// The first GPU by address is card2.
constexpr const char* kCard = "/sys/class/drm/card2/device";

std::string table(const char* name) {
  return *core::read_file(std::string(AACO_SOURCE_DIR "/tests/fixtures/gpu_metrics/") + name);
}

struct Bench {
  FakeMachine machine{"epyc_mi300x", {"sys/class/drm"}};
  CollectorBench bench{make_collector, machine.root()};
  void put(const std::string& file, std::string_view text) const { machine.write(kCard + file, text); }
  void start() {
    ASSERT_TRUE(bench.open());
    bench.sample_after(0);
  }
};

TEST(AmdgpuCollector, ReadsTheFilesOfEachDevice) {
  Bench b;
  b.start();
  for (const std::int64_t device : {0, 1}) {
    EXPECT_EQ(b.bench.gpu(device, "gpu.use_ratio", "amdgpu.sysfs"), 0.37);
    EXPECT_EQ(b.bench.gpu(device, "gpu.memory_use_ratio", "amdgpu.sysfs"), 0.12);
    EXPECT_EQ(b.bench.gpu(device, "gpu.vram_used_bytes", "amdgpu.sysfs"), 297279488);
    EXPECT_EQ(b.bench.gpu(device, "gpu.vram_total_bytes", "amdgpu.sysfs"), 206141652992.0);
    EXPECT_EQ(b.bench.gpu(device, "gpu.power_watts", "amdgpu.hwmon"), 141);
    EXPECT_EQ(b.bench.gpu(device, "gpu.power_cap_watts", "amdgpu.sysfs"), 750);
    EXPECT_EQ(b.bench.gpu(device, "gpu.temperature_celsius", "amdgpu.hwmon"), 44);
    EXPECT_EQ(b.bench.gpu(device, "gpu.clock_hz", "amdgpu.hwmon"), 132e6);
    EXPECT_EQ(b.bench.gpu(device, "gpu.clock_hz", "amdgpu.pp_dpm"), 132e6);
    EXPECT_EQ(b.bench.gpu(device, "gpu.fabric_clock_hz", "amdgpu.pp_dpm"), 2000e6);
    EXPECT_EQ(b.bench.gpu(device, "gpu.pcie_speed_transfers_per_second", "amdgpu.sysfs"), 32e9);
    EXPECT_EQ(b.bench.gpu(device, "gpu.pcie_replays_count", "amdgpu.sysfs"), 3);
    EXPECT_EQ(b.bench.gpu(device, "gpu.ecc_correctable_count", "amdgpu.ras"), 7);
    EXPECT_EQ(b.bench.gpu(device, "gpu.ecc_uncorrectable_count", "amdgpu.ras"), 1);
  }
  EXPECT_EQ(b.bench.gpu(0, "gpu.energy_joules", "amdgpu.hwmon"), std::nullopt);  // this driver has no such file
  EXPECT_EQ(b.bench.gpu(2, "gpu.use_ratio", "amdgpu.sysfs"), std::nullopt);      // the management card is no GPU
}
TEST(AmdgpuCollector, MetricsTableYieldsLevelsImmediatelyAndIntervalShares) {
  Bench b;
  b.put("/gpu_metrics", table("mi300x_a.bin"));
  b.start();
  const char* const levels = "amdgpu.gpu_metrics";
  const char* const shares = "amdgpu.gpu_metrics.accumulated";
  EXPECT_EQ(b.bench.gpu(0, "gpu.power_watts", levels), 640);
  EXPECT_EQ(b.bench.gpu(0, "gpu.energy_joules", levels), 1000);
  EXPECT_EQ(b.bench.gpu(0, "gpu.clock_hz", levels), 2100e6);
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", levels), 0.9);
  EXPECT_EQ(b.bench.gpu(0, "gpu.partition0_use_ratio", levels), 0.8);
  EXPECT_DOUBLE_EQ(b.bench.gpu(0, "gpu.partition1_use_ratio", levels).value_or(-1), 0.9);
  EXPECT_EQ(b.bench.gpu(0, "gpu.partition2_use_ratio", levels), std::nullopt);
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", shares), std::nullopt);
  EXPECT_EQ(b.bench.gpu(1, "gpu.power_watts", levels), std::nullopt);  // this one has no table
  b.put("/gpu_metrics", table("mi300x_b.bin"));
  b.bench.sample_after(0.02);
  EXPECT_DOUBLE_EQ(b.bench.gpu(0, "gpu.use_ratio", shares).value_or(-1), 0.75);
  EXPECT_DOUBLE_EQ(b.bench.gpu(0, "gpu.memory_use_ratio", shares).value_or(-1), 0.3);
  EXPECT_DOUBLE_EQ(b.bench.gpu(0, "gpu.throttled_power_ratio", shares).value_or(-1), 0.25);
  EXPECT_EQ(b.bench.gpu(0, "gpu.throttled_thermal_ratio", shares), 0);
  EXPECT_EQ(b.bench.gpu(0, "gpu.throttled_vr_thermal_ratio", shares), std::nullopt);  // marked as not available
  EXPECT_DOUBLE_EQ(b.bench.gpu(0, "gpu.xgmi_read_bytes_per_second", levels).value_or(-1), 7 * 1e6 / 0.02);
  EXPECT_EQ(b.bench.gpu(0, "gpu.energy_joules", levels), 1012);
}
TEST(AmdgpuCollector, KeepsBothPowerSources) {
  Bench b;
  b.put("/gpu_metrics", table("mi300x_a.bin"));
  b.start();
  EXPECT_EQ(b.bench.gpu(0, "gpu.power_watts", "amdgpu.gpu_metrics"), 640);
  EXPECT_EQ(b.bench.gpu(0, "gpu.power_watts", "amdgpu.hwmon"), 141);
}
TEST(AmdgpuCollector, SharesRestartAfterPause) {
  Bench b;
  b.put("/gpu_metrics", table("mi300x_a.bin"));
  b.start();
  b.put("/gpu_metrics", table("mi300x_b.bin"));
  b.bench.collector().forget();
  b.bench.sample_after(0.02);
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", "amdgpu.gpu_metrics.accumulated"), std::nullopt);
}
TEST(AmdgpuCollector, ThrottleBitsBecomeFlags) {
  Bench b;
  b.put("/gpu_metrics", table("v2_2.bin"));
  b.start();
  ASSERT_TRUE(b.bench.gpu(0, "gpu.throttle_power_flag", "amdgpu.gpu_metrics"));
  EXPECT_EQ(b.bench.gpu(0, "gpu.throttle_other_flag", "amdgpu.gpu_metrics"), 0);
}
TEST(AmdgpuCollector, ReportsVersionOfUnknownTableAndReadsTheOtherFiles) {
  Bench b;
  b.put("/gpu_metrics", std::string("\x10\x00\x01\x63", 4) + std::string(12, '\0'));
  b.start();
  const auto notes = b.bench.collector().account().notes;
  EXPECT_TRUE(
      std::any_of(notes.begin(), notes.end(), [](const std::string& note) { return note.find("v1.99") != std::string::npos; }));
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", "amdgpu.sysfs"), 0.37);
}
TEST(AmdgpuCollector, CountsTruncatedTableWithoutInventingValues) {
  Bench b;
  b.put("/gpu_metrics", table("mi300x_a.bin"));
  b.start();
  b.put("/gpu_metrics", table("mi300x_b.bin").substr(0, 100));
  b.bench.sample_after(0.02);
  EXPECT_EQ(b.bench.gpu(0, "gpu.power_watts", "amdgpu.gpu_metrics"), std::nullopt);
  EXPECT_EQ(b.bench.collector().account().dropped.at("amdgpu.gpu_metrics: read failed"), 1);
}
TEST(AmdgpuCollector, GivesUpOnUnavailableFilesAfterCounting) {
  Bench b;
  b.put("/gpu_busy_percent", "N/A\n");
  b.start();
  for (int i = 0; i < 60; ++i) b.bench.sample_after(0.05);
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", "amdgpu.sysfs"), std::nullopt);
  EXPECT_EQ(b.bench.collector().account().dropped.at("amdgpu.sysfs: gpu_busy_percent has no valid value"), 20);
}
TEST(AmdgpuCollector, ReadsPaddedFiles) {
  Bench b;
  b.put("/gpu_busy_percent", std::string("55\n") + std::string(4093, '\0'));
  b.start();
  EXPECT_EQ(b.bench.gpu(0, "gpu.use_ratio", "amdgpu.sysfs"), 0.55);
}
TEST(AmdgpuCollector, UnsupportedWithRemedyWithoutGpu) {
  const FakeMachine machine;
  CollectorBench bench(make_collector, machine.root());
  const auto status = bench.open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
  EXPECT_FALSE(status.error().remedy.empty());
}

// Captures of real cards by others, laid out as a machine: only the card's own folder was captured.
class RealCard : public ::testing::TestWithParam<const char*> {};
TEST_P(RealCard, GivesPowerAndTemperature) {
  const char* root = std::getenv("AACO_REAL_DATA");
  const std::string source =
      std::string(root != nullptr ? root : AACO_SOURCE_DIR "/../shared/data") + "/traces/sysfs/LACT/amd/" + GetParam();
  if (!core::is_directory(source)) GTEST_SKIP() << "skipped, no real data";
  const FakeMachine machine;
  const auto names = core::list_directory(source);
  for (const std::string& name : *names) {
    if (!name.starts_with("card")) continue;
    std::filesystem::create_directories(machine.root() + "/sys/class/drm");
    std::filesystem::create_directory_symlink(source + "/" + name, machine.root() + "/sys/class/drm/" + name);
  }
  CollectorBench bench(make_collector, machine.root());
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_GT(bench.gpu(0, "gpu.power_watts", "amdgpu.hwmon").value_or(0), 0.9);
  EXPECT_GT(bench.gpu(0, "gpu.temperature_celsius", "amdgpu.hwmon").value_or(0), 20);
  EXPECT_TRUE(bench.gpu(0, "gpu.use_ratio", "amdgpu.sysfs"));
  EXPECT_TRUE(bench.gpu(0, "gpu.clock_hz", "amdgpu.pp_dpm"));
}
INSTANTIATE_TEST_SUITE_P(Captured, RealCard, ::testing::Values("phoenix", "rx7600s", "rx7900xtx", "vega56"));

}  // namespace
}  // namespace aaco::collectors::amdgpu
