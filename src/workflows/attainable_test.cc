#include "workflows/attainable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;
using testing::HasSubstr;

Json node(const char* name, double attainable_ns, double predicted_ns) {
  return Json::object({{"name", name},
                       {"op_type", "Conv"},
                       {"aliases", Json::array({Json("/Relu_output_0")})},
                       {"shape", "1x3x8x8"},
                       {"repeats", 1},
                       {"flops", 1e6},
                       {"bytes", 1e5},
                       {"attainable_ns", attainable_ns},
                       {"limit", "compute"},
                       {"tile_ratio", 1.0},
                       {"wave_ratio", 1.0},
                       {"predicted_ns", predicted_ns},
                       {"predicted_lower_ns", predicted_ns / 2},
                       {"predicted_upper_ns", predicted_ns * 2},
                       {"confidence", "THEORETICAL"}});
}

Json attainable(double attainable_ns, double predicted_ns) {
  Json nodes = Json::array();
  nodes.push(node("/conv1/Conv", attainable_ns, predicted_ns));
  return Json::object({{"schema_version", 1},
                       {"device", "acme"},
                       {"device_name", "Acme"},
                       {"flops_per_s", Json::object({{"value", 1e9}})},
                       {"bytes_per_s", Json::object({{"value", 1e9}})},
                       {"nodes", std::move(nodes)}});
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

const Json& row(const report::ReportModel& model) { return model.extra["attainable"]["nodes"].items().at(0); }

TEST(Attainable, ANodeStandsBesideWhatItCouldTake) {
  auto model = measured("/conv1/Conv", 1e6);
  fill_attainable(model, attainable(0.4e6, 0.8e6));
  EXPECT_EQ(row(model)["gap_ns"].as_f64(), 0.6e6);
  EXPECT_EQ(row(model)["surprise"].as_bool(), false);
  EXPECT_FALSE(row(model)["reason"].text().empty());
  EXPECT_NEAR(*model.roofline->reached_ratio, 0.4, 1e-9);
  EXPECT_EQ(model.roofline->points.size(), 1U);
}

TEST(Attainable, FusedKernelsAreFoundByNodeAndByResult) {
  for (const char* name : {"/conv1/Conv", "/Relu_output_0_nchwc", "/Relu_output_0", "/conv1/Conv/fused"}) {
    auto model = measured(name, 1e6);
    fill_attainable(model, attainable(0.4e6, 0.8e6));
    EXPECT_TRUE(model.extra.contains("attainable")) << name;
  }
}

TEST(Attainable, WhatTheRuntimeMadeIsCountedAndNotGuessed) {
  auto model = measured("/conv1/Conv", 1e6);
  model.nodes.push_back(model.nodes[0]);
  model.nodes[1].name = "reorder_token_7";
  fill_attainable(model, attainable(0.4e6, 0.8e6));
  EXPECT_EQ(model.extra["attainable"]["unmatched_nodes"].as_i64(), 1);
  auto alone = measured("elsewhere", 1e6);
  fill_attainable(alone, attainable(0.4e6, 0.8e6));
  EXPECT_FALSE(alone.extra.contains("attainable"));
  EXPECT_FALSE(alone.roofline);
}

TEST(Attainable, OutsideThePredictionIsASurprise) {
  auto slow = measured("/conv1/Conv", 5e6);
  fill_attainable(slow, attainable(0.4e6, 0.8e6));
  EXPECT_EQ(row(slow)["surprise"].as_bool(), true);
  EXPECT_THAT(std::string(row(slow)["reason"].text()), HasSubstr("slower than predicted"));
  auto fast = measured("/conv1/Conv", 0.3e6);
  fill_attainable(fast, attainable(0.4e6, 0.8e6));
  EXPECT_EQ(row(fast)["surprise"].as_bool(), true);
  EXPECT_THAT(std::string(row(fast)["reason"].text()), HasSubstr("faster than the ceiling"));
  EXPECT_EQ(*fast.roofline->reached_ratio, 1);
}

TEST(Attainable, AnotherRooflineStays) {
  auto model = measured("/conv1/Conv", 1e6);
  model.roofline = report::Roofline{"of a trace", {}, {}, {}};
  fill_attainable(model, attainable(0.4e6, 0.8e6));
  EXPECT_EQ(model.roofline->text, "of a trace");
}

TEST(Attainable, DamagedOrMissingPredictionsAreNothing) {
  auto model = measured("/conv1/Conv", 1e6);
  fill_attainable(model, Json());
  fill_attainable(model, Json::object({{"nodes", "none"}}));
  EXPECT_FALSE(model.extra.contains("attainable"));
}

}  // namespace
}  // namespace aaco::workflows
