#include "workflows/session_report/report_attainable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::Json;
using testing::HasSubstr;

SessionEstimates estimates(std::int64_t attainable_ns, std::int64_t predicted_ns) {
  SessionEstimates out;
  trace::EstimateRow node;
  node.node_name = out.names.intern("/conv1/Conv");
  node.aliases = out.names.intern(R"(["/Relu_output_0"])");
  node.op_type = out.names.intern("Conv");
  node.shape = out.names.intern("1x3x8x8");
  node.flops = 1e6;
  node.bytes = 100'000;
  node.compute_ns = node.attainable_ns = attainable_ns;
  node.theoretical_ns = node.predicted_ns = predicted_ns;
  node.predicted_lower_ns = predicted_ns / 2;
  node.predicted_upper_ns = predicted_ns * 2;
  node.level = out.names.intern("THEORETICAL");
  out.nodes.push_back(node);
  const Json latency = Json::object({{"value", 2e6},
                                     {"unit", "ns"},
                                     {"confidence", "THEORETICAL"},
                                     {"source", "specification"},
                                     {"lower", 1e6},
                                     {"upper", 4e6}});
  out.summary = Json::object({{"schema_version", 1},
                              {"device", "acme"},
                              {"device_name", "Acme"},
                              {"units", 8},
                              {"flops_per_s", Json::object({{"value", 1e9}})},
                              {"bytes_per_s", Json::object({{"value", 1e9}})},
                              {"estimate", Json::object({{"latency", latency}})}});
  return out;
}

report::ReportModel measured(const char* name, double ns) {
  report::ReportModel model;
  report::TimeShare share;
  share.name = name;
  share.group = "Conv";
  share.total_ns = ns;
  model.nodes.push_back(share);
  return model;
}

const report::Attainable::Node& row(const report::ReportModel& model) { return model.sections.attainable.value().nodes.at(0); }

SessionEstimates with_energy(double joules) {
  SessionEstimates out = estimates(400'000, 800'000);
  Json estimate = out.summary["estimate"];
  estimate.set("energy", Json::object({{"value", joules},
                                       {"unit", "J"},
                                       {"confidence", "THEORETICAL"},
                                       {"source", "specification"},
                                       {"lower", joules / 2},
                                       {"upper", joules * 2}}));
  out.summary.set("estimate", std::move(estimate)).set("tokens", Json::object({{"count", 128}}));
  return out;
}

TEST(Attainable, EnergyPerIterationIsShownWithItsPrediction) {
  for (const auto& [measured_joules, surprise] : {std::pair{1.5, false}, {2.1, false}, {2.3, true}, {0.3, true}}) {
    auto model = measured("/conv1/Conv", 1e6);
    model.metrics.push_back({"energy.cpu_per_iteration_joules",
                             measured_joules,
                             "J",
                             trace::Interval{measured_joules * 0.9, measured_joules * 1.1},
                             {}});
    fill_attainable(model, with_energy(1));
    const auto& energy = model.sections.attainable.value().energy.value();
    EXPECT_EQ(energy.measured_joules, measured_joules);
    EXPECT_EQ(energy.measured_upper_joules, measured_joules * 1.1);
    EXPECT_EQ(energy.surprise, surprise) << measured_joules;
    EXPECT_EQ(energy.tokens, 128);
  }
}

TEST(Attainable, WithoutASensorOrAPredictionNothingIsMadeUp) {
  auto model = measured("/conv1/Conv", 1e6);
  fill_attainable(model, with_energy(1));
  const auto& energy = model.sections.attainable.value().energy.value();
  EXPECT_EQ(energy.predicted.value, 1);
  EXPECT_FALSE(energy.measured_joules);
  EXPECT_FALSE(energy.surprise);
  auto plain = measured("/conv1/Conv", 1e6);
  fill_attainable(plain, estimates(400'000, 800'000));
  EXPECT_FALSE(plain.sections.attainable.value().energy);
}

TEST(Attainable, NodeIsShownWithItsAttainableTime) {
  auto model = measured("/conv1/Conv", 1e6);
  fill_attainable(model, estimates(400'000, 800'000));
  EXPECT_EQ(row(model).gap_ns(), 0.6e6);
  EXPECT_EQ(row(model).surprise, false);
  EXPECT_FALSE(row(model).reason.empty());
  EXPECT_NEAR(*model.roofline->reached_ratio, 0.4, 1e-9);
  EXPECT_EQ(model.roofline->points.size(), 1U);
}

TEST(Attainable, FusedKernelsAreFoundByNodeAndByResult) {
  for (const char* name : {"/conv1/Conv", "/Relu_output_0_nchwc", "/Relu_output_0", "/conv1/Conv/fused"}) {
    auto model = measured(name, 1e6);
    fill_attainable(model, estimates(400'000, 800'000));
    EXPECT_TRUE(model.sections.attainable) << name;
  }
}

TEST(Attainable, WhatTheRuntimeMadeIsCountedAndNotGuessed) {
  auto model = measured("/conv1/Conv", 1e6);
  model.nodes.push_back(model.nodes[0]);
  model.nodes[1].name = "reorder_token_7";
  fill_attainable(model, estimates(400'000, 800'000));
  EXPECT_EQ(model.sections.attainable.value().unmatched_nodes, 1);
  auto alone = measured("elsewhere", 1e6);
  fill_attainable(alone, estimates(400'000, 800'000));
  EXPECT_TRUE(alone.sections.attainable.value().nodes.empty());
  EXPECT_FALSE(alone.roofline);
}

TEST(Attainable, TotalIsShownWithItsPredictionEvenWithoutAProfile) {
  for (const auto& [median_ns, surprise] : {std::pair{3e6, false}, {9e6, true}, {0.5e6, true}}) {
    report::ReportModel model;
    model.metrics.push_back({"latency.p50_ns", median_ns, "ns", {}, {}});
    fill_attainable(model, estimates(400'000, 800'000));
    const auto& whole = model.sections.attainable.value().whole.value();
    EXPECT_EQ(whole.measured_ns, median_ns);
    EXPECT_EQ(whole.predicted.confidence, "THEORETICAL");
    EXPECT_EQ(whole.surprise, surprise) << median_ns;
  }
}

TEST(Attainable, FewerThreadsThanCoresAreNoSurprise) {
  for (const auto& [threads, surprise] : {std::pair{2, false}, {8, true}, {0, true}}) {
    auto model = measured("/conv1/Conv", 5e6);
    model.session.outcome = trace::outcome_from_json(Json::object({{"threads", threads}}));
    fill_attainable(model, estimates(400'000, 800'000));
    EXPECT_EQ(row(model).surprise, surprise) << threads;
    EXPECT_EQ(model.sections.attainable.value().note.has_value(), !surprise) << threads;
    EXPECT_EQ(model.roofline->text.find("all 8 cores") != std::string::npos, !surprise) << threads;
  }
}

TEST(Attainable, OutsideThePredictionIsASurprise) {
  auto slow = measured("/conv1/Conv", 5e6);
  fill_attainable(slow, estimates(400'000, 800'000));
  EXPECT_EQ(row(slow).surprise, true);
  EXPECT_THAT(row(slow).reason, HasSubstr("slower than predicted"));
  auto fast = measured("/conv1/Conv", 0.3e6);
  fill_attainable(fast, estimates(400'000, 800'000));
  EXPECT_EQ(row(fast).surprise, true);
  EXPECT_THAT(row(fast).reason, HasSubstr("faster than the ceiling"));
  EXPECT_EQ(*fast.roofline->reached_ratio, 1);
}

TEST(Attainable, TheRooflineHasStatedAndMeasuredRoofs) {
  auto model = measured("/conv1/Conv", 1e6);
  auto given = estimates(400'000, 800'000);
  given.nodes[0].operator_class = given.names.intern("depthwise");
  given.nodes[0].data_type = given.names.intern("fp32");
  fill_attainable(model, given);
  ASSERT_EQ(model.roofline->points.size(), 1U);
  EXPECT_EQ(model.roofline->points[0].type, "float32");
  EXPECT_EQ(model.roofline->points[0].kind, "convolution");
  EXPECT_NEAR(*model.roofline->points[0].reached_ratio, 0.4, 1e-9);
  EXPECT_FALSE(model.roofline->measured_ratio);
  EXPECT_EQ(model.roofline->roofs.size(), 2U) << "as the run saw them, where the registry has the device no longer";

  DeviceRoofs roofs;
  roofs.id = "acme";
  roofs.calibration = "calibration of acme, 2026-11-20";
  roofs.cache_bytes = 1e9;
  roofs.compute[{"float32", "convolution"}] = {2e9, "convolution fp32", 12};
  roofs.cached = MeasuredCeiling{1e12, "gemm fp32", 7};
  auto beside = measured("/conv1/Conv", 1e6);
  fill_attainable(beside, given, roofs);
  EXPECT_NEAR(*beside.roofline->measured_ratio, 0.5, 1e-9) << "1e6 operations at 2e9 a second are half of the millisecond";
  EXPECT_THAT(beside.roofline->text, HasSubstr("50.0 % of the ceilings measured by the calibration of acme, 2026-11-20"));
  EXPECT_THAT(beside.roofline->text, HasSubstr("from shapes"));
  roofs.problem = "it is damaged";
  auto damaged = measured("/conv1/Conv", 1e6);
  fill_attainable(damaged, given, roofs);
  EXPECT_THAT(damaged.roofline->text, HasSubstr("it is damaged"));
}

TEST(Attainable, AnotherRooflineStays) {
  auto model = measured("/conv1/Conv", 1e6);
  model.roofline = report::Roofline{"of a trace", {}, {}, {}};
  fill_attainable(model, estimates(400'000, 800'000));
  EXPECT_EQ(model.roofline->text, "of a trace");
}

TEST(Attainable, ASessionWithoutPredictionsHasNoSection) {
  auto model = measured("/conv1/Conv", 1e6);
  fill_attainable(model, SessionEstimates());
  auto damaged = estimates(1, 1);
  damaged.summary = Json("none");
  fill_attainable(model, damaged);
  EXPECT_FALSE(model.sections.attainable);
  auto odd = estimates(400'000, 800'000);
  odd.nodes[0].aliases = odd.names.intern("{not JSON");
  fill_attainable(model, odd);
  EXPECT_EQ(model.sections.attainable.value().nodes.size(), 1U);
}

TEST(SessionEstimates, AreReadBackAsTheyAre) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-estimates").value();
  const auto none = read_estimates(folder.path());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->nodes.empty() && none->summary.is_null());
  ASSERT_TRUE(core::make_directories(folder.path() + "/predict"));
  ASSERT_TRUE(core::write_file_atomic(folder.path() + "/predict/estimate_summary.json", "{\"schema_version\": 1"));
  EXPECT_FALSE(read_estimates(folder.path())) << "a damaged summary is no session without one";
}

}  // namespace
}  // namespace aaco::workflows
