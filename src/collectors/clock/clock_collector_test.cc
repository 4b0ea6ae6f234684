#include "collectors/clock/clock_collector.h"

#include <gtest/gtest.h>

#include "tests/support/collector_bench.h"
#include "tests/support/fake_machine.h"

namespace aaco::collectors::clock {
namespace {

using aaco::testing::CollectorBench;
using aaco::testing::FakeMachine;

struct Bench {
  FakeMachine machine{"epyc_mi300x", {"sys/devices/system/cpu"}};
  CollectorBench bench{make_collector, machine.root()};
  void start() {
    ASSERT_TRUE(bench.open());
    bench.sample_after(0);
  }
};

TEST(ClockCollector, ReadsTheClockOfEachCpuAndThePolicy) {
  Bench b;
  b.start();
  EXPECT_EQ(b.bench.value("cpu.clock_hz", "cpu0"), 3690000e3);
  EXPECT_EQ(b.bench.value("cpu.clock_hz", "cpu3"), 3690003e3);
  EXPECT_EQ(b.bench.value("cpu.clock_limit_hz"), 3707812e3);
  EXPECT_EQ(b.bench.value("cpu.boost_flag"), 1);
}
TEST(ClockCollector, TheLowestLimitIsTheLimit) {
  Bench b;
  b.machine.write("/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "1500000\n");
  b.start();
  EXPECT_EQ(b.bench.value("cpu.clock_limit_hz"), 1500000e3);
}
TEST(ClockCollector, NoTurboIsTheInverseOfBoost) {
  CollectorBench bench(make_collector, aaco::testing::machine_root("xeon_powersave"));
  ASSERT_TRUE(bench.open());
  bench.sample_after(0);
  EXPECT_EQ(bench.value("cpu.boost_flag"), 0);
  EXPECT_EQ(bench.value("cpu.clock_hz", "cpu0"), std::nullopt);  // "<unknown>"
}
TEST(ClockCollector, ThrottlingAndTemperatureOfTheProcessor) {
  Bench b;
  for (const char* cpu : {"cpu0", "cpu1"})
    b.machine.write(std::string("/sys/devices/system/cpu/") + cpu + "/thermal_throttle/core_throttle_count", "10\n");
  b.machine.write("/sys/class/hwmon/hwmon2/name", "k10temp\n");
  b.machine.write("/sys/class/hwmon/hwmon2/temp1_label", "Tctl\n");
  b.machine.write("/sys/class/hwmon/hwmon2/temp1_input", "71250\n");
  b.machine.write("/sys/class/hwmon/hwmon3/name", "nvme\n");
  b.machine.write("/sys/class/hwmon/hwmon3/temp1_label", "Composite\n");
  b.machine.write("/sys/class/hwmon/hwmon3/temp1_input", "40000\n");
  b.start();
  EXPECT_EQ(b.bench.value("cpu.temperature_celsius", "Tctl"), 71.25);
  EXPECT_EQ(b.bench.value("cpu.temperature_celsius", "Composite"), std::nullopt);
  EXPECT_EQ(b.bench.value("cpu.thermal_throttles_per_second"), std::nullopt);
  b.machine.write("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "14\n");
  b.bench.sample_after(2);
  EXPECT_EQ(b.bench.value("cpu.thermal_throttles_per_second"), 2);
}
TEST(ClockCollector, CountsCpuThatStopsReporting) {
  Bench b;
  b.start();
  b.machine.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unknown>\n");
  b.bench.sample_after(1);
  EXPECT_EQ(b.bench.value("cpu.clock_hz", "cpu1"), std::nullopt);
  EXPECT_EQ(b.bench.collector().account().dropped.at("clock.frequency: a CPU reports no clock"), 1);
}
TEST(ClockCollector, AMachineWithoutClockFilesIsUnsupported) {
  const FakeMachine machine;
  CollectorBench bench(make_collector, machine.root());
  const auto status = bench.open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
}

}  // namespace
}  // namespace aaco::collectors::clock
