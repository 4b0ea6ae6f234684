#include "collectors/clock_state.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::collectors {
namespace {

TEST(ClockState, ReportsCpuAndGpuClockState) {
  const core::Json state = clock_state({aaco::testing::machine_root("epyc_mi300x")});
  EXPECT_EQ(state["cpu"]["governor"].text(), "performance");
  EXPECT_EQ(state["cpu"]["performance_mode"]["verdict"].text(), "yes");
  ASSERT_EQ(state["gpus"].items().size(), 2U);
  const core::Json& gpu = state["gpus"].items()[0];
  EXPECT_EQ(gpu["performance_level"].text(), "auto");
  EXPECT_EQ(gpu["power_cap_watts"].as_f64(), 750.0);
  EXPECT_EQ(gpu["clocks"]["mclk"]["current_hz"].as_f64(), 1300e6);
  EXPECT_EQ(gpu["clocks"]["sclk"]["levels_hz"].items().size(), 2U);
}
TEST(ClockState, ReportsObstaclesToMeasuring) {
  const core::Json state = clock_state({aaco::testing::machine_root("xeon_powersave")});
  EXPECT_EQ(state["cpu"]["performance_mode"]["verdict"].text(), "no");
}
TEST(ClockState, EmptyMachineIsUnknown) {
  const aaco::testing::FakeMachine machine;
  const core::Json state = clock_state({machine.root()});
  EXPECT_EQ(state["cpu"]["performance_mode"]["verdict"].text(), "unknown");
  EXPECT_FALSE(state["cpu"].contains("boost"));
  EXPECT_TRUE(state["gpus"].items().empty());
}

}  // namespace
}  // namespace aaco::collectors
