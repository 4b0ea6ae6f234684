#include "estimation/energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace aaco::estimation {
namespace {

hardware::Device device() {
  hardware::Device made;
  made.id = "acme";
  made.power.board_watts = hardware::Figure{300, "sheet", {}};
  made.power.idle_watts = hardware::Figure{30, "sheet", {}};
  made.power.leakage_ratio = hardware::Figure{0.1, "sheet", {}};
  made.memory.kind = "HBM2e";
  made.memory.bytes_per_s = hardware::Figure{1e12, "sheet", {}};
  return made;
}
constexpr double kOps = 100e12;
PoweredWork busy() { return {{100e12, 0.1e12}, 1.0, 0.1, 0}; }  // a second of computing at full clock

TEST(Energy, FullLoadDrawsAboutBoardPower) {
  const PowerModel model = power_model(device(), kOps).value();
  EXPECT_EQ(model.static_watts(), 60);
  EXPECT_NEAR(energy_parts(busy(), model, 1).joules(), 300, 20);
}

TEST(Energy, IdleTimeCostsStaticPowerOnly) {
  const PowerModel model = power_model(device(), kOps).value();
  const EnergyParts waiting = energy_parts({{0, 0}, 0, 0, 2.0}, model, 1);
  EXPECT_EQ(waiting.compute_joules, 0);
  EXPECT_EQ(waiting.movement_joules, 0);
  EXPECT_EQ(waiting.static_joules, 120);
}

TEST(Energy, ALowerClockTakesLongerAndLessEnergyToCompute) {
  const PowerModel model = power_model(device(), kOps).value();
  EXPECT_GT(busy().seconds(0.5), busy().seconds(1));
  EXPECT_LT(energy_parts(busy(), model, 0.5).compute_joules, energy_parts(busy(), model, 1).compute_joules);
}

TEST(PowerCap, HoldsTheMeanPower) {
  const PowerModel model = power_model(device(), kOps).value();
  const double ratio = clock_under_cap(busy(), model, 200).value();
  EXPECT_LT(ratio, 1);
  EXPECT_GT(ratio, kLowestClockRatio);
  EXPECT_NEAR(energy_parts(busy(), model, ratio).joules() / busy().seconds(ratio), 200, 0.1);
}

TEST(PowerCap, DoesNotBindMemoryBoundWorkAsEarly) {
  const PowerModel model = power_model(device(), kOps).value();
  const PoweredWork moving{{1e12, 1e12}, 0.01, 1.0, 0};
  EXPECT_EQ(clock_under_cap(moving, model, 200).value(), 1);
  EXPECT_LT(clock_under_cap(busy(), model, 200).value(), 1);
}

TEST(PowerCap, BelowTheLowestClockWorkStopsForAPartOfTheTime) {
  const PowerModel model = power_model(device(), kOps).value();
  const PoweredWork moving{{1e12, 1e12}, 0.01, 1.0, 0};  // of memory alone, which no clock slows down
  const double lowest = energy_parts(moving, model, kLowestClockRatio).joules() / moving.seconds(kLowestClockRatio);
  EXPECT_EQ(moving.seconds(kLowestClockRatio), 1);
  double before = 1;
  for (const double part : {0.95, 0.9, 0.85}) {
    const double ratio = clock_under_cap(moving, model, part * lowest).value();
    EXPECT_LT(ratio, kLowestClockRatio);
    EXPECT_NEAR(energy_parts(moving, model, ratio).joules() / moving.seconds(ratio), part * lowest, 0.01);
    EXPECT_GT(moving.seconds(ratio), before);
    EXPECT_EQ(energy_parts(moving, model, ratio).movement_joules, energy_parts(moving, model, 1).movement_joules);
    before = moving.seconds(ratio);
  }
}

TEST(PowerCap, RefusesUnreachablePowerCap) {
  const PowerModel model = power_model(device(), kOps).value();
  EXPECT_EQ(clock_under_cap(busy(), model, 20).error().code, core::ErrorCode::invalid_argument);
}

TEST(FittedPower, FullClockEnergyMatchesMeasurement) {
  const PowerModel specified = power_model(device(), kOps).value();
  const EnergyParts measured{100, 40, 90};
  for (const PowerModel* one : {&specified, static_cast<const PowerModel*>(nullptr)}) {
    const EnergyParts parts = energy_parts(busy(), power_model_of(measured, busy().work, 1.0, one), 1);
    EXPECT_NEAR(parts.compute_joules, 100, 1e-9);
    EXPECT_NEAR(parts.movement_joules, 40, 1e-9);
    EXPECT_NEAR(parts.static_joules, 90, 1e-9);
  }
  EXPECT_EQ(power_model_of({0, 0, 5}, {}, 0, nullptr).static_watts(), 0) << "no time, no power";
}

TEST(FittedPower, WhatAByteTakesBeyondItsMemoryFollowsTheVoltage) {
  const PowerModel specified = power_model(device(), kOps).value();
  const double memory = specified.joules_per_byte * busy().work.bytes;
  const PowerModel dear = power_model_of({100, memory * 3, 90}, busy().work, 1.0, &specified);
  const PowerModel cheap = power_model_of({100, memory / 2, 90}, busy().work, 1.0, &specified);
  EXPECT_NEAR(energy_parts(busy(), dear, kLowestClockRatio).movement_joules,
              memory * (1 + 2 * std::pow(voltage_ratio(kLowestClockRatio), 2)), 1e-9);
  EXPECT_NEAR(energy_parts(busy(), cheap, kLowestClockRatio).movement_joules, memory / 2, 1e-9);
}

TEST(Energy, WithoutBoardPowerThereIsNoEstimate) {
  hardware::Device unknown = device();
  unknown.power.board_watts.reset();
  EXPECT_EQ(power_model(unknown, kOps).error().code, core::ErrorCode::unsupported);
}

TEST(Energy, TheLongestNameOfAMemoryCounts) {
  EXPECT_GT(joules_per_byte("GDDR5X"), joules_per_byte("GDDR6"));
  EXPECT_GT(joules_per_byte("DDR5"), joules_per_byte("LPDDR5"));
  EXPECT_FALSE(joules_per_byte("papyrus"));
}

}  // namespace
}  // namespace aaco::estimation
