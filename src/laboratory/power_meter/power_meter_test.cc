#include "laboratory/power_meter.h"

#include <gtest/gtest.h>

#include "core/clock.h"
#include "tests/support/fake_machine.h"

namespace aaco::laboratory {
namespace {

using aaco::testing::FakeMachine;

const std::atomic<bool> kGoOn{false};
constexpr const char* kFirst = "/sys/class/drm/card2/device/hwmon/hwmon5/power1_average";

trace::MetricValue energy(const char* id, double joules, double bound, std::int64_t device) {
  return {id, joules, "J", trace::Interval{joules - bound, joules + bound}, device};
}

TEST(ReadingOf, UsesTheClearlyBusyGpu) {
  EXPECT_EQ(reading_of({energy("energy.gpu_joules", 300, 10, 0)}, 0.5).watts, 600);
  EXPECT_EQ(reading_of({energy("energy.gpu_joules", 70, 2, 0), energy("energy.gpu_joules", 300, 10, 1)}, 0.5).watts, 600);
  EXPECT_EQ(reading_of({energy("energy.gpu_joules", 300, 10, 0), energy("energy.gpu_joules", 70, 2, 1)}, 0.5).watts, 600);
  EXPECT_EQ(reading_of({energy("energy.gpu_joules", 300, 10, 0), energy("energy.gpu_joules", 250, 10, 1)}, 0.5).watts,
            std::nullopt);
  EXPECT_EQ(reading_of({energy("energy.gpu_joules", 300, 90, 0)}, 0.5).watts, std::nullopt) << "the readings say too little";
  EXPECT_EQ(reading_of({energy("gpu.power_mean_watts", 300, 0, 0)}, 0.5).watts, std::nullopt);
  EXPECT_EQ(reading_of({}, 0.5).watts, std::nullopt);
}

trace::MetricValue clock_of(double hertz, std::int64_t device) { return {"gpu.clock_mean_hz", hertz, "Hz", {}, device}; }

TEST(ReadingOf, ClocksAreOfTheBusyGpuOrOfTheOnlyOne) {
  const trace::Metrics two{energy("energy.gpu_joules", 70, 2, 0), energy("energy.gpu_joules", 300, 10, 1), clock_of(1e9, 0),
                           clock_of(2e9, 1)};
  EXPECT_EQ(reading_of(two, 0.5).clock_hz, 2e9);
  EXPECT_EQ(reading_of({clock_of(1.5e9, 0)}, 0.5).clock_hz, 1.5e9) << "a virtual machine may show clocks and no power";
  EXPECT_EQ(reading_of({clock_of(1e9, 0), clock_of(2e9, 1)}, 0.5).clock_hz, std::nullopt);
}

// On a busy machine the meter may come too late to its samples, and then says nothing.
core::Result<PowerMeter::Reading> measured(PowerMeter& meter, const std::function<core::Status()>& work) {
  auto watts = meter.during(work, kGoOn);
  for (int tries = 1; tries < 5 && watts && !watts->watts; ++tries) watts = meter.during(work, kGoOn);
  return watts;
}

TEST(PowerMeter, ReadsSensorOfTheBusyGpu) {
  const FakeMachine machine("epyc_mi300x", {"sys/class/drm"});
  PowerMeter meter = PowerMeter::open({machine.root()}, PowerMeter::Of::gpu).value();
  const auto idle = meter.during([] { return core::Status(); }, kGoOn);
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->watts, std::nullopt) << "both draw 141 W";
  EXPECT_EQ(idle->clock_hz, std::nullopt) << "of which of the two?";
  const auto busy = measured(meter, [&] {
    machine.write(kFirst, "620000000\n");
    return core::Status();
  });
  ASSERT_TRUE(busy && busy->watts);
  EXPECT_NEAR(*busy->watts, 620, 62);
  EXPECT_GT(busy->clock_hz.value_or(0), 1e8);
}

TEST(PowerMeter, AddsThePackagesOfAProcessor) {
  const FakeMachine machine("epyc_mi300x", {"sys/class/powercap", "proc"});
  PowerMeter meter = PowerMeter::open({machine.root()}, PowerMeter::Of::processor).value();
  const std::int64_t start = core::monotonic_ns();
  const auto work = [&] {  // 80 W each, of a clock that only this work moves
    const std::string microjoules = std::to_string(1'000'000 + (core::monotonic_ns() - start) * 80 / 1000) + "\n";
    machine.write("/sys/class/powercap/intel-rapl:0/energy_uj", microjoules);
    machine.write("/sys/class/powercap/intel-rapl:1/energy_uj", microjoules);
    return core::Status();
  };
  const auto watts = measured(meter, work);
  ASSERT_TRUE(watts && watts->watts);
  EXPECT_NEAR(*watts->watts, 160, 32);
}

TEST(PowerMeter, UnsupportedWithoutSensorAndStopsOnRequestOrFailure) {
  const FakeMachine none;
  EXPECT_EQ(PowerMeter::open({none.root()}, PowerMeter::Of::gpu).error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(PowerMeter::open({none.root()}, PowerMeter::Of::processor).error().code, core::ErrorCode::unsupported);
  const FakeMachine machine("epyc_mi300x", {"sys/class/drm"});
  PowerMeter meter = PowerMeter::open({machine.root()}, PowerMeter::Of::gpu).value();
  int calls = 0;
  const auto failed = meter.during(
      [&]() -> core::Status {
        ++calls;
        return core::fail(core::ErrorCode::io, "the device is gone");
      },
      kGoOn);
  ASSERT_FALSE(failed);
  EXPECT_EQ(calls, 1);
  const std::atomic<bool> stop{true};
  const auto stopped = meter.during([] { return core::Status(); }, stop);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(*stopped, PowerMeter::Reading());
}

}  // namespace
}  // namespace aaco::laboratory
