#include "estimation/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimation/calibrated.h"
#include "estimation/latency/features.h"
#include "stats/boosted_trees.h"
#include "tests/support/shipped_device.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Shape;
using hardware::shipped_device;
using testing::HasSubstr;

// Two linear layers with an activation between them.
graph::Graph two_layers(std::int64_t batch = 64, std::int64_t width = 2048, const char* middle = "Relu") {
  graph::Graph g;
  g.opsets[""] = 17;
  const auto tensor = [&g](const char* name, Shape shape) {
    return g.add_tensor({name, ElementType::float32, std::move(shape)});
  };
  const auto x = tensor("x", {batch, width}), w1 = tensor("w1", {width, width}), h = tensor("h", {batch, width});
  const auto a = tensor("a", {batch, width}), w2 = tensor("w2", {width, width}), y = tensor("y", {batch, width});
  g.inputs = {x};
  g.outputs = {y};
  g.initializers = {{w1, {}}, {w2, {}}};
  g.nodes = {
      {"first", "MatMul", "", {x, w1}, {h}, {}}, {"act", middle, "", {h}, {a}, {}}, {"second", "MatMul", "", {a, w2}, {y}, {}}};
  return g;
}

GraphEstimate estimate_of(const graph::Graph& graph, const char* on, Conditions conditions = {}) {
  auto made = analyze(graph, shipped_device(on), conditions, nullptr);
  EXPECT_TRUE(made) << made.error().text();
  return made ? std::move(*made) : GraphEstimate();
}

TEST(Analyze, BoundsAreThoseOfNodesAndHostTogether) {
  Conditions given;
  given.host_ns = 1000;
  const GraphEstimate e = estimate_of(two_layers(), "epyc 9654", given), free = estimate_of(two_layers(), "epyc 9654");
  double lower = 0, upper = 0;
  for (const NodeEstimate& node : e.nodes) {
    lower += node.latency.lower + 1e-6;
    upper += node.latency.upper + 1e-6;
  }
  EXPECT_NEAR(e.latency.lower, lower * 1e9, 1e-3 * lower * 1e9);
  EXPECT_NEAR(e.latency.upper, upper * 1e9, 1e-3 * upper * 1e9);
  EXPECT_EQ(free.latency.value, e.latency.value) << "1 us is what is usual";
  EXPECT_LT(free.latency.lower, e.latency.lower) << "and that is not known well";
  EXPECT_GT(free.latency.upper, e.latency.upper);
}

// In int8, one layer has width^2 bytes of weights, and the graph's ends 2 x batch x width.
GraphEstimate on_coral(std::int64_t batch, std::int64_t width) {
  Conditions conditions;
  conditions.dtype = "int8";
  return estimate_of(two_layers(batch, width), "Coral", conditions);
}

TEST(Analyze, WithoutMainMemoryExcessWeightsCrossTheLink) {
  constexpr double kLink = 0.5e9;
  const GraphEstimate fits = on_coral(16, 1024);
  ASSERT_EQ(fits.nodes.size(), 3U);
  EXPECT_NEAR(fits.nodes[0].latency.explanation.memory_s, 2 * 16 * 1024 / kLink, 1e-12) << "what comes in and what goes out";
  EXPECT_EQ(fits.nodes[0].mapping.level, "the link");
  EXPECT_EQ(fits.nodes[2].latency.explanation.memory_s, 0) << "its weights stay";
  EXPECT_EQ(fits.nodes[2].mapping.level, "on-chip memory");
  EXPECT_GE(fits.nodes[2].work.bytes, 1024 * 1024) << "though it reads them";

  const GraphEstimate large = on_coral(16, 4096);  // 32 MiB of weights beside 128 KiB of activations on 8 MiB
  const double room = 8 * 1024 * 1024 - 2 * 16 * 4096, weights = 4096 * 4096;
  EXPECT_NEAR(large.nodes[2].latency.explanation.memory_s, (weights - room / 2) / kLink, 1e-9);
  EXPECT_THAT(large.notes, testing::Contains(HasSubstr("7.88 of 32 MiB of weights fit")));
  EXPECT_LT(large.energy_parts.movement_joules, 2 * (weights + 2 * 16 * 4096) * 80e-12) << "what stays is moved for less";

  const GraphEstimate wide = on_coral(4096, 2048);  // one layer's activations alone are 16 MiB
  EXPECT_GE(wide.nodes[2].latency.explanation.memory_s, 2 * 4096 * 2048 / kLink);
}

// Either layer's weights fit half of the cache of 256 MiB; both together stay in it from one run to the next, or neither does.
TEST(Analyze, WeightsOfAModelLargerThanTheCacheComeFromMemory) {
  const GraphEstimate large = estimate_of(two_layers(1, 5000), "MI300X"), small = estimate_of(two_layers(1, 4000), "MI300X");
  constexpr double kMemory = 5.325e12;
  ASSERT_FALSE(large.nodes.empty());
  EXPECT_EQ(large.nodes[0].mapping.level, "memory");
  EXPECT_GE(large.nodes[0].latency.lower, 4.0 * 5000 * 5000 / kMemory);
  EXPECT_THAT(large.nodes[0].mapping.reasons, testing::Contains(HasSubstr("weights are read from memory")));
  EXPECT_EQ(small.nodes[0].mapping.level, "infinity_cache");
  EXPECT_LT(small.nodes[0].latency.explanation.memory_s, 4.0 * 4000 * 4000 / kMemory / 2);
}

TEST(Analyze, AChipWhoseMemoryIsNotPublishedIsTakenToHoldTheGraph) {
  Conditions conditions;
  conditions.dtype = "int8";
  const GraphEstimate hailo = estimate_of(two_layers(16, 4096), "Hailo-8", conditions);
  EXPECT_EQ(hailo.nodes[2].latency.explanation.memory_s, 0);
  EXPECT_THAT(hailo.notes, testing::Contains(HasSubstr("not published")));
}

TEST(Analyze, CappedHostIssuesLater) {
  Conditions eager;
  eager.eager = true;
  const double full = estimate_of(two_layers(1, 64), "jetson_orin_maxn", eager).latency.value;
  const double capped = estimate_of(two_layers(1, 64), "jetson_orin_15w", eager).latency.value;
  const double compiled = estimate_of(two_layers(1, 64), "jetson_orin_maxn").latency.value;
  EXPECT_GT(capped, 1.5 * full);
  EXPECT_GT(full, 3 * compiled);
  EXPECT_LT(estimate_of(two_layers(1, 64), "h100", eager).latency.value, full / 3) << "no small cores";
}

TEST(Analyze, ATypeWithoutUnitsIsEmulatedByAnEagerFramework) {
  Conditions plain, eager;
  plain.dtype = eager.dtype = "fp16";
  eager.eager = true;
  const GraphEstimate runtime = estimate_of(two_layers(), "i7-12700k", plain),
                      slow = estimate_of(two_layers(), "i7-12700k", eager);
  EXPECT_GT(slow.latency.value, 10 * runtime.latency.value);
  EXPECT_THAT(slow.notes, testing::Contains(HasSubstr("no units for fp16")));
  EXPECT_THAT(runtime.notes, testing::Not(testing::Contains(HasSubstr("no units"))));
  eager.dtype = "fp32";
  EXPECT_LT(estimate_of(two_layers(), "i7-12700k", eager).latency.value, 2 * runtime.latency.value);
}

TEST(Analyze, IndicesRunOnDevicesWithoutSinglePrecision) {
  graph::Graph g = two_layers();
  const auto mask = g.add_tensor({"mask", ElementType::int64, Shape{64, 2048}});
  g.outputs.push_back(mask);
  g.nodes.push_back({"mask", "Cast", "", {g.nodes.back().outputs[0]}, {mask}, {{"to", std::int64_t{7}}}});
  const auto sum = g.add_tensor({"sum", ElementType::int64, Shape{64, 2048}});
  g.outputs.push_back(sum);
  g.nodes.push_back({"sum", "Add", "", {mask, mask}, {sum}, {}});
  Conditions bf16;
  bf16.dtype = "bf16";
  const GraphEstimate e = estimate_of(g, "tpu v5e", bf16);
  ASSERT_FALSE(e.nodes.empty());
  EXPECT_EQ(e.nodes.back().op_type, "Add");
  EXPECT_EQ(e.nodes.back().dtype, "bf16");
  EXPECT_EQ(estimate_of(g, "h100", bf16).nodes.back().dtype, "fp32") << "which has lanes for it";
  EXPECT_FALSE(analyze(g, shipped_device("tpu v5e"), {}, nullptr)) << "floating-point work stays what it is";
}

TEST(Analyze, StepsOfARecurrentOperatorWaitForEachOther) {
  const auto lstm = [](std::int64_t length) {
    graph::Graph g;
    g.opsets[""] = 17;
    const auto x = g.add_tensor({"x", ElementType::float32, Shape{length, 1, 64}});
    const auto w = g.add_tensor({"w", ElementType::float32, Shape{1, 256, 64}});
    const auto r = g.add_tensor({"r", ElementType::float32, Shape{1, 256, 64}});
    const auto y = g.add_tensor({"y", ElementType::float32, Shape{length, 1, 1, 64}});
    g.inputs = {x};
    g.outputs = {y};
    g.initializers = {{w, {}}, {r, {}}};
    g.nodes = {{"lstm", "LSTM", "", {x, w, r}, {y}, {{"hidden_size", std::int64_t{64}}}}};
    return estimate_of(g, "H100");
  };
  const GraphEstimate one = lstm(1), many = lstm(100);
  EXPECT_GT(many.device_seconds, 50 * one.device_seconds);
  EXPECT_NEAR(many.nodes[0].latency.explanation.floor_s, 100 * one.nodes[0].latency.explanation.floor_s, 1e-12);
  EXPECT_GT(many.latency.lower, 20 * one.latency.lower);
  EXPECT_THAT(many.nodes[0].mapping.reasons, testing::Contains(HasSubstr("100 dependent steps")));
}

TEST(Analyze, OnlySelectedNodesCount) {
  const std::vector<bool> last = {false, false, true};
  Conditions some;
  some.only = &last;
  const GraphEstimate e = estimate_of(two_layers(), "MI300X", some);
  ASSERT_EQ(e.nodes.size(), 1U);
  EXPECT_EQ(e.nodes[0].name, "second");
  EXPECT_EQ(e.nodes[0].place, 2U);
}

TEST(Analyze, FusedNodesRunInTheKernelOfTheHeaviest) {
  graph::Fusion fusion;
  fusion.groups = {{"epilogue", {0, 1}, 2.0 * 4 * 64 * 2048}};
  Conditions fused;
  fused.fusion = &fusion;
  const GraphEstimate apart = estimate_of(two_layers(), "MI300X"), e = estimate_of(two_layers(), "MI300X", fused);
  ASSERT_EQ(e.nodes.size(), 2U);
  EXPECT_THAT(e.nodes[0].fused, testing::ElementsAre("Relu"));
  EXPECT_EQ(e.fused_nodes, 1);
  EXPECT_EQ(e.nodes[0].work.flops, apart.nodes[0].work.flops + 64 * 2048);
  EXPECT_EQ(e.nodes[0].work.bytes, apart.nodes[0].work.bytes) << "what lies between is neither written nor read";
  EXPECT_LT(e.device_seconds, apart.device_seconds);
}

// Of FP32 products: twice the roofline and the floor, whatever the shape.
CalibrationSet twice_the_roofline(const char* on) {
  LatencyModel model;
  model.kind = "gemm";
  model.type = "fp32";
  model.trees.push_back(
      stats::BoostedTrees::of(feature_count("gemm"), {std::log(2.0)}, std::vector<stats::BoostedTrees::Node>(1), {0}).value());
  model.bounds.low = -0.1;
  model.bounds.high = 0.1;
  DeviceCalibration calibration;
  calibration.device = shipped_device(on).id;
  calibration.latency.push_back(std::move(model));
  CalibrationSet set;
  set.add(std::move(calibration), facts_of(shipped_device(on)));
  return set;
}

TEST(Analyze, FusionAddsSameTimeToCalibratedAndTheoreticalEstimates) {
  const CalibrationSet set = twice_the_roofline("MI300X");
  graph::Fusion fusion;
  fusion.groups = {{"epilogue", {0, 1}, 0}};  // the activation's operand is written and read all the same
  Conditions fused;
  fused.fusion = &fusion;
  for (const std::int64_t batch : {64, 16384}) {
    const auto apart = analyze(two_layers(batch), shipped_device("MI300X"), {}, &set),
               e = analyze(two_layers(batch), shipped_device("MI300X"), fused, &set);
    ASSERT_TRUE(apart && e);
    const NodeEstimate &alone = apart->nodes[0], &whole = e->nodes[0];
    ASSERT_EQ(whole.latency.level, Level::calibrated);
    EXPECT_EQ(alone.theoretical_seconds,
              analyze(two_layers(batch), shipped_device("MI300X"), {}, nullptr)->nodes[0].latency.seconds);
    EXPECT_NEAR(whole.latency.seconds / alone.latency.seconds, whole.theoretical_seconds / alone.theoretical_seconds, 1e-9);
    EXPECT_GT(whole.latency.explanation.memory_s, alone.latency.explanation.memory_s);
    EXPECT_LE(whole.latency.lower, whole.latency.seconds);
    EXPECT_GE(whole.latency.upper, whole.latency.seconds);
    EXPECT_EQ(e->nodes[1].latency.seconds, apart->nodes[2].latency.seconds) << "nothing is fused behind the second product";
  }
}

TEST(Analyze, EveryNodeHasAnEstimateWithBoundsAndReasons) {
  const GraphEstimate e = estimate_of(two_layers(), "MI300X");
  ASSERT_EQ(e.nodes.size(), 3U);
  for (const NodeEstimate& node : e.nodes) {
    EXPECT_GT(node.latency.seconds, 0);
    EXPECT_LE(node.latency.lower, node.latency.seconds);
    EXPECT_GE(node.latency.upper, node.latency.seconds);
    EXPECT_THAT(node.latency.explanation.limit, testing::AnyOf("compute", "memory", "floor"));
  }
  EXPECT_EQ(e.flops, 2 * 2.0 * 64 * 2048 * 2048 + 64 * 2048);
  EXPECT_EQ(e.latency.level, Level::theoretical);
  EXPECT_LT(e.latency.lower, e.latency.value);
  EXPECT_GT(e.latency.upper, e.latency.value);
}

TEST(Analyze, TheGraphTakesAtLeastItsDevicesTime) {
  const GraphEstimate gpu = estimate_of(two_layers(), "MI300X"), cpu = estimate_of(two_layers(), "EPYC 9654");
  EXPECT_GE(gpu.latency.value * 1e-9, gpu.device_seconds * 0.999999);
  EXPECT_NEAR(cpu.latency.value * 1e-9, cpu.device_seconds + cpu.host_exposed_seconds, 1e-12);
}

TEST(Analyze, DeviceWaitsForSlowHost) {
  Conditions slow;
  slow.host_ns = 1e6;
  const GraphEstimate waiting = estimate_of(two_layers(), "MI300X", slow);
  EXPECT_GT(waiting.latency.value, 3e6);
  EXPECT_GT(waiting.host_exposed_seconds, 2.9e-3);
  Conditions none;
  none.host_ns = 0;
  EXPECT_EQ(estimate_of(two_layers(), "MI300X", none).host_exposed_seconds, 0);
}

TEST(Analyze, ANarrowerTypeIsFasterAndMovesLess) {
  Conditions half;
  half.dtype = "fp16";
  const GraphEstimate wide = estimate_of(two_layers(4096), "MI300X"), narrow = estimate_of(two_layers(4096), "MI300X", half);
  EXPECT_LT(narrow.device_seconds, wide.device_seconds / 2);
  EXPECT_EQ(narrow.nodes[0].work.bytes, wide.nodes[0].work.bytes / 2);
  EXPECT_EQ(narrow.nodes[0].dtype, "fp16");
}

TEST(Analyze, APowerCapSlowsAndSaves) {
  Conditions capped;
  capped.power_cap_watts = 400;
  const GraphEstimate free = estimate_of(two_layers(8192), "MI300X"), held = estimate_of(two_layers(8192), "MI300X", capped);
  EXPECT_LT(held.least_clock_ratio, 1);
  EXPECT_GT(held.device_seconds, free.device_seconds);
  EXPECT_LE(held.power->value, 400.5);
  EXPECT_LT(held.energy_parts.compute_joules, free.energy_parts.compute_joules);
  Conditions hopeless;
  hopeless.power_cap_watts = 5;
  EXPECT_EQ(analyze(two_layers(8192), shipped_device("MI300X"), hopeless, nullptr).error().code,
            core::ErrorCode::invalid_argument);
}

TEST(Analyze, ADeviceWithoutBoardPowerHasTimesAndNoEnergy) {
  hardware::Device unknown = shipped_device("MI300X");
  unknown.power.board_watts.reset();
  const auto made = analyze(two_layers(), unknown, {}, nullptr);
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->energy);
  Conditions capped;
  capped.power_cap_watts = 400;
  EXPECT_FALSE(analyze(two_layers(), unknown, capped, nullptr)) << "a cap without a power model is no silent nothing";
}

TEST(Analyze, UnmodelledOperatorsAreListedAndLowerConfidence) {
  const GraphEstimate e = estimate_of(two_layers(64, 2048, "Frobnicate"), "MI300X");
  EXPECT_EQ(e.nodes.size(), 2U);
  ASSERT_EQ(e.unmodelled.size(), 1U);
  EXPECT_THAT(e.unmodelled[0].op_type, HasSubstr("Frobnicate"));
  EXPECT_LT(e.confidence_ratio, 1);
}

TEST(Analyze, Refuses) {
  Conditions odd;
  odd.dtype = "fp33";
  EXPECT_EQ(analyze(two_layers(), shipped_device("MI300X"), odd, nullptr).error().code, core::ErrorCode::invalid_argument);
  graph::Graph views = two_layers();
  views.nodes = {{"view", "Identity", "", {views.inputs[0]}, {views.outputs[0]}, {}}};
  const auto nothing = analyze(views, shipped_device("MI300X"), {}, nullptr);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("views"));
  graph::Graph empty;
  EXPECT_EQ(analyze(empty, shipped_device("MI300X"), {}, nullptr).error().code, core::ErrorCode::unsupported);
  EXPECT_EQ(analyze(two_layers(), shipped_device("Coral"), {}, nullptr).error().code, core::ErrorCode::unsupported);
}

TEST(Kernels, ATransposedConvolutionKeepsItsWork) {
  graph::NodeCost cost;
  cost.kind = graph::OperatorClass::convolution;
  cost.known = true;
  cost.flops = 1e9;
  cost.bytes_read = 1e6;
  cost.type = ElementType::float32;
  graph::ConvolutionSite site;
  site.transposed = true;
  cost.site = site;
  const auto kernel = kernel_of({}, {"t", "ConvTranspose", "", {}, {}, {}}, cost, "");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(std::get<OtherShape>(kernel->shape).flops, 1e9);
}

TEST(AnalysisJson, CarriesEachEstimateWithUnitConfidenceSourceAndBounds) {
  const core::Json json = to_json(estimate_of(two_layers(), "MI300X"), true);
  for (const char* name : {"latency", "energy", "power"})
    for (const char* part : {"value", "unit", "confidence", "source", "lower", "upper"})
      EXPECT_TRUE(json[name].contains(part)) << name << ' ' << part;
  EXPECT_EQ(json["nodes"].items().size(), 3U);
  EXPECT_EQ(json["nodes"].items()[0]["latency"]["confidence"].text(), "THEORETICAL");
}

}  // namespace
}  // namespace aaco::estimation
