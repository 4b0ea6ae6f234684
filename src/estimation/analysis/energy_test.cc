#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimation/analysis.h"
#include "estimation/calibrated.h"
#include "estimation/latency/features.h"
#include "stats/boosted_trees.h"
#include "tests/support/shipped_device.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Shape;
using testing::HasSubstr;

constexpr double kWatts = 150, kPerFlop = 2e-12, kPerByte = 40e-12, kTimeBound = 0.1, kEnergyBound = 0.2;

hardware::Device mi300x() { return hardware::shipped_device("MI300X"); }

// `layers` products of float32, each with an activation behind it.
graph::Graph products(int layers, std::int64_t batch = 4096, std::int64_t width = 2048) {
  graph::Graph g;
  g.opsets[""] = 17;
  const auto tensor = [&](std::string name, Shape shape) {
    return g.add_tensor({std::move(name), ElementType::float32, std::move(shape)});
  };
  graph::TensorId at = tensor("x", {batch, width});
  g.inputs = {at};
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const auto w = tensor("w" + n, {width, width}), h = tensor("h" + n, {batch, width}), a = tensor("a" + n, {batch, width});
    g.initializers.push_back({w, {}});
    g.nodes.push_back({"product" + n, "MatMul", "", {at, w}, {h}, {}});
    g.nodes.push_back({"act" + n, "Relu", "", {h}, {a}, {}});
    at = a;
  }
  g.outputs = {at};
  return g;
}

stats::BoostedTrees constant(std::size_t columns, double value) {
  return stats::BoostedTrees::of(columns, {value}, std::vector<stats::BoostedTrees::Node>(1), {0}).value();
}

// Products of `type` take twice the roofline and the floor, and an energy of three known parts times `factor`.
CalibrationSet calibrated(const hardware::Device& device, double factor = 1, const std::string& energy_class = "gemm fp32") {
  LatencyModel time;
  time.kind = "gemm";
  time.type = "fp32";
  time.trees.push_back(constant(feature_count("gemm"), std::log(2.0)));
  time.bounds.low = -kTimeBound;
  time.bounds.high = kTimeBound;
  time.quality = {1000, 100, 0.05, 0.05, 0.1, 0};
  EnergyModel energy{kWatts, kPerFlop, kPerByte, {constant(energy_feature_count(), std::log(factor))}, {}, time.quality};
  energy.bounds.low = -kEnergyBound;
  energy.bounds.high = kEnergyBound;
  DeviceCalibration calibration;
  calibration.device = device.id;
  calibration.latency.push_back(std::move(time));
  calibration.energy.emplace(energy_class, std::move(energy));
  CalibrationSet set;
  set.add(std::move(calibration), facts_of(device));
  return set;
}

GraphEstimate analysed(const graph::Graph& graph, const hardware::Device& device, const CalibrationSet* set,
                       const Conditions& conditions = {}) {
  auto made = analyze(graph, device, conditions, set);
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : GraphEstimate();
}

TEST(NodeEnergy, UsesCalibrationForKnownClass) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  const GraphEstimate e = analysed(products(1), device, &set);
  const NodeEstimate& product = e.nodes[0];
  ASSERT_EQ(product.latency.level, Level::calibrated);
  ASSERT_TRUE(product.energy);
  EXPECT_EQ(product.energy->level, Level::calibrated);
  EXPECT_EQ(product.energy->source, device.id);
  EXPECT_NEAR(product.energy->parts.static_joules, kWatts * product.latency.seconds, 1e-12);
  EXPECT_NEAR(product.energy->parts.compute_joules, kPerFlop * product.work.flops, 1e-12);
  EXPECT_NEAR(product.energy->parts.movement_joules, kPerByte * product.work.bytes, 1e-12);
  ASSERT_TRUE(e.nodes[1].energy);
  EXPECT_EQ(e.nodes[1].energy->level, Level::theoretical) << "of activations the calibration has nothing";
  EXPECT_EQ(e.nodes[1].energy->source, "specification");
}

TEST(NodeEnergy, EnergyBoundIncludesTimeBound) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  const EnergyEstimate energy = *analysed(products(1), device, &set).nodes[0].energy;
  EXPECT_NEAR(std::log(energy.upper / energy.joules()), std::hypot(kTimeBound, kEnergyBound), 1e-9);
  EXPECT_NEAR(std::log(energy.joules() / energy.lower), std::hypot(kTimeBound, kEnergyBound), 1e-9);
}

TEST(NodeEnergy, UnknownClassUsesSpecifications) {
  const hardware::Device device = mi300x();
  for (const char* other : {"gemm fp16", "vector fp32", "batched gemm fp32"}) {
    const CalibrationSet set = calibrated(device, 1, other);
    const NodeEstimate product = analysed(products(1), device, &set).nodes[0];
    EXPECT_EQ(product.latency.level, Level::calibrated) << other;
    EXPECT_EQ(product.energy->level, Level::theoretical) << other;
  }
  const CalibrationSet set = calibrated(device);
  for (const Level best : {Level::interpolated, Level::theoretical}) {
    Conditions asked;
    asked.best = best;
    EXPECT_EQ(analysed(products(1), device, &set, asked).nodes[0].energy->level, Level::theoretical);
  }
}

TEST(NodeEnergy, IsNotTransferredFromRelatives) {
  const hardware::Device device = mi300x();
  hardware::Device relative = device;
  relative.id = "amd_relative";
  const CalibrationSet set = calibrated(relative);
  const NodeEstimate product = analysed(products(1), device, &set).nodes[0];
  EXPECT_EQ(product.latency.level, Level::interpolated);
  EXPECT_EQ(product.energy->level, Level::theoretical);
}

TEST(NodeEnergy, BySpecificationsIsWithinAFactorOfTwo) {
  for (const NodeEstimate& node : analysed(products(2), mi300x(), nullptr).nodes) {
    EXPECT_NEAR(node.energy->lower * 2, node.energy->joules(), 1e-12);
    EXPECT_NEAR(node.energy->upper / 2, node.energy->joules(), 1e-12);
    EXPECT_EQ(node.energy->level, Level::theoretical);
  }
}

TEST(NodeEnergy, FusedEpilogueUsesFittedEnergy) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  graph::Fusion fusion;
  fusion.groups = {{"epilogue", {0, 1}, 0}};  // the activation's operand is written and read all the same
  Conditions fused;
  fused.fusion = &fusion;
  const GraphEstimate apart = analysed(products(1), device, &set), whole = analysed(products(1), device, &set, fused);
  const NodeEstimate &alone = apart.nodes[0], &both = whole.nodes[0];
  ASSERT_EQ(both.energy->level, Level::calibrated);
  EXPECT_GT(both.work.bytes, alone.work.bytes);
  EXPECT_NEAR(both.energy->parts.movement_joules / alone.energy->parts.movement_joules, both.work.bytes / alone.work.bytes, 1e-9);
  EXPECT_NEAR(both.energy->parts.static_joules / alone.energy->parts.static_joules, both.latency.seconds / alone.latency.seconds,
              1e-9);
  EXPECT_NEAR(both.energy->upper / both.energy->joules(), alone.energy->upper / alone.energy->joules(), 1e-9);
}

TEST(NodeEnergy, StaysWithinBoardPower) {
  hardware::Device device = mi300x();
  device.power.idle_watts = hardware::Figure{120, "datasheet", {}};
  for (const double factor : {1e-3, 1.0, 1e3}) {
    const CalibrationSet set = calibrated(device, factor);
    const NodeEstimate product = analysed(products(1), device, &set).nodes[0];
    const double watts = product.energy->joules() / product.latency.seconds;
    EXPECT_LE(watts, device.power.board_watts->value * 1.000001);
    EXPECT_GE(watts, 120 * 0.999999);
    EXPECT_GE(product.energy->joules(), product.energy->parts.static_joules);
    EXPECT_LE(product.energy->lower, product.energy->joules());
    EXPECT_GE(product.energy->upper, product.energy->joules());
  }
}

TEST(NodeEnergy, CalibrationWithoutEnergyIsIgnored) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device, 1e308);
  const GraphEstimate e = analysed(products(1), device, &set);
  EXPECT_EQ(e.nodes[0].energy->level, Level::theoretical);
  EXPECT_TRUE(std::isfinite(e.energy->upper));
}

TEST(NodeEnergy, DeviceWithoutBoardPowerUsesCalibration) {
  hardware::Device device = mi300x();
  device.power = {};
  const CalibrationSet set = calibrated(device);
  const GraphEstimate e = analysed(products(1), device, &set);
  ASSERT_TRUE(e.nodes[0].energy);
  EXPECT_EQ(e.nodes[0].energy->level, Level::calibrated);
  EXPECT_FALSE(e.nodes[1].energy);
  EXPECT_FALSE(e.energy) << "a part is no sum";
  Conditions capped;
  capped.power_cap_watts = 400;
  EXPECT_FALSE(analyze(products(1), device, capped, &set));
}

TEST(GraphEnergy, SumsTheEndsOfItsNodesAndWhatFlowsWhileItWaits) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  Conditions none;
  none.host_ns = 0;
  const GraphEstimate e = analysed(products(40), device, &set, none);
  double value = 0, lower = 0, upper = 0;
  for (const NodeEstimate& node : e.nodes) {
    value += node.energy->joules();
    lower += node.energy->lower;
    upper += node.energy->upper;
  }
  EXPECT_NEAR(e.energy->value, value, 1e-9 * value);
  EXPECT_NEAR(e.energy->lower, lower, 1e-9 * value) << "forty layers err together: no root of n";
  EXPECT_NEAR(e.energy->upper, upper, 1e-9 * value);
  Conditions slow;
  slow.host_ns = 1e6;
  const GraphEstimate waiting = analysed(products(40), device, &set, slow);
  EXPECT_GT(waiting.energy->value, e.energy->value);
  EXPECT_GT(waiting.energy_parts.static_joules, e.energy_parts.static_joules);
  EXPECT_EQ(waiting.energy_parts.compute_joules, e.energy_parts.compute_joules);
  EXPECT_GT(waiting.energy->upper / waiting.energy->value, e.energy->upper / e.energy->value) << "idling is not known as well";
}

TEST(GraphEnergy, IsGradedByTheShareThatRestsOnEach) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  Conditions none;
  none.host_ns = 0;
  const GraphEstimate heavy = analysed(products(2, 16384, 8192), device, &set, none);
  EXPECT_EQ(heavy.energy->level, Level::calibrated) << "activations are less than a tenth of it";
  EXPECT_THAT(heavy.energy->source, HasSubstr(device.id + " ("));
  EXPECT_THAT(heavy.energy->source, HasSubstr("% of the energy); specification ("));
  EXPECT_THAT(heavy.energy->source, HasSubstr("board power 750 W"));
  const GraphEstimate light = analysed(products(2, 16384, 64), device, &set, none);
  EXPECT_EQ(light.energy->level, Level::theoretical);
  EXPECT_EQ(light.power->level, Level::theoretical);
}

TEST(GraphEnergy, MeanPowerIsTheEnergyOverTheTime) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device);
  for (const CalibrationSet* one : {&set, static_cast<const CalibrationSet*>(nullptr)}) {
    const GraphEstimate e = analysed(products(3), device, one);
    EXPECT_NEAR(e.power->value, e.energy->value / (e.latency.value * 1e-9), 1e-6);
    EXPECT_LE(e.power->upper, device.power.board_watts->value);
    EXPECT_LT(e.power->lower, e.power->value);
  }
}

TEST(GraphEnergy, FollowsABetterTime) {
  const hardware::Device device = mi300x();
  GraphEstimate e = analysed(products(3), device, nullptr);
  const GraphEstimate before = e;
  e.latency.value *= 2;
  follow_latency(device, before.latency.value * 1e-9, e);
  const double added = e.energy->value - before.energy->value;
  EXPECT_NEAR(added, power_model(device, 1)->static_watts() * before.latency.value * 1e-9, 1e-9);
  EXPECT_NEAR(e.energy->upper / e.energy->value, before.energy->upper / before.energy->value, 1e-9);
  EXPECT_NEAR(e.power->value, e.energy->value / (e.latency.value * 1e-9), 1e-6);
  EXPECT_EQ(e.energy_parts.compute_joules, before.energy_parts.compute_joules);
}

// Of one heavy product, by a fit.
NodeEstimate under_cap(double watts) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device, 1.5);
  Conditions capped;
  capped.power_cap_watts = watts;
  return analysed(products(1, 16384, 8192), device, &set, capped).nodes[0];
}

TEST(FittedEnergyUnderACap, BindsByTheFitsOwnPower) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device, 1.5);
  const NodeEstimate free = analysed(products(1, 16384, 8192), device, &set).nodes[0];
  const double watts = free.energy->joules() / free.latency.seconds;
  const NodeEstimate above = under_cap(watts * 1.01), below = under_cap(watts * 0.9);
  EXPECT_EQ(above.clock_ratio, 1);
  EXPECT_EQ(above.energy->level, Level::calibrated);
  EXPECT_EQ(above.energy->lower, free.energy->lower);
  EXPECT_NEAR(above.energy->upper, std::min(free.energy->upper, watts * 1.01 * free.latency.upper), 1e-9) << "the cap holds";
  EXPECT_LT(below.clock_ratio, 1);
  EXPECT_NEAR(below.energy->joules() / below.latency.seconds, watts * 0.9, watts * 0.001);
  EXPECT_EQ(below.energy->level, Level::theoretical) << "no measurement was made under a cap";
  EXPECT_EQ(below.latency.level, Level::theoretical);
  EXPECT_THAT(below.latency.source, HasSubstr("at the capped clock by specification"));
  EXPECT_EQ(above.latency.level, Level::calibrated);
  EXPECT_LT(below.latency.lower, free.latency.seconds) << "it may not slow down at all";
  EXPECT_GT(below.latency.upper, free.latency.upper * below.latency.seconds / free.latency.seconds);
  EXPECT_THAT(below.energy->source, HasSubstr("at the capped clock by specification"));
  EXPECT_GT(below.energy->joules() / below.energy->lower, free.energy->joules() / free.energy->lower);
}

TEST(FittedEnergyUnderACap, ALowerCapNeverDrawsMorePowerOrComputesForMore) {
  NodeEstimate last = under_cap(750);
  for (const double watts : {600.0, 500.0, 450.0, 400.0, 350.0, 300.0, 275.0}) {
    const NodeEstimate next = under_cap(watts);
    EXPECT_LE(next.clock_ratio, last.clock_ratio);
    EXPECT_GE(next.latency.seconds, last.latency.seconds * 0.999999);
    EXPECT_LE(next.energy->parts.compute_joules, last.energy->parts.compute_joules * 1.000001);
    EXPECT_LE(next.energy->joules() / next.latency.seconds, last.energy->joules() / last.latency.seconds * 1.000001);
    EXPECT_LE(next.energy->joules() / next.latency.seconds, watts * 1.001);
    EXPECT_LE(next.energy->upper, watts * next.latency.upper * 1.001);
    last = next;
  }
  EXPECT_LT(last.clock_ratio, 1);
}

TEST(FittedEnergyUnderACap, TheBoardDrawsNoMoreThanItsCap) {
  const hardware::Device device = mi300x();
  for (const double watts : {500.0, 400.0, 350.0}) {
    Conditions capped;
    capped.power_cap_watts = watts;
    const GraphEstimate e = analysed(products(2, 16384, 8192), device, nullptr, capped);
    EXPECT_LE(e.power->value, watts * 1.001);
    EXPECT_LE(e.power->upper, watts * 1.001);
  }
}

TEST(FittedEnergyUnderACap, RefusesUnreachableCap) {
  const hardware::Device device = mi300x();
  const CalibrationSet set = calibrated(device, 1.5);
  Conditions hopeless;
  hopeless.power_cap_watts = 20;
  EXPECT_EQ(analyze(products(1, 16384, 8192), device, hopeless, &set).error().code, core::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace aaco::estimation
