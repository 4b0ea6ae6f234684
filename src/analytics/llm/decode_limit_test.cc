#include "analytics/decode_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::analytics::llm {
namespace {

using testing::HasSubstr;

DecodeEvidence step(double tpot_ns) {
  DecodeEvidence evidence;
  evidence.tpot_ns = tpot_ns;
  evidence.bytes = {1e9, 1e8};
  evidence.bandwidth = Bandwidth{1e11, "calibration of x"};  // 1 GB takes 10 ms
  return evidence;
}

TEST(DecodeLimit, TimeNearTheFloorIsBandwidthBound) {
  const DecodeVerdict verdict = judge_decode(step(12.5e6));
  EXPECT_EQ(verdict.limit, DecodeLimit::bandwidth);
  EXPECT_NEAR(verdict.weight_floor_ratio.value(), 0.8, 1e-12);
  EXPECT_NEAR(verdict.floor_ratio.value(), 0.88, 1e-12);
  EXPECT_THAT(verdict.sentence, HasSubstr("80.0 %"));
  EXPECT_THAT(verdict.evidence.front(), HasSubstr("calibration of x"));
}

TEST(DecodeLimit, HalfOfTheFloorIsPartly) { EXPECT_EQ(judge_decode(step(25e6)).limit, DecodeLimit::partly); }
TEST(DecodeLimit, FarFromTheFloorIsSomethingElse) { EXPECT_EQ(judge_decode(step(100e6)).limit, DecodeLimit::other); }

TEST(DecodeLimit, DisturbedGenerationsLeaveItUndecided) {
  DecodeEvidence evidence = step(100e6);
  evidence.disturbed_ratio = 0.9;
  EXPECT_EQ(judge_decode(evidence).limit, DecodeLimit::unknown);
  EXPECT_THAT(judge_decode(evidence).sentence, HasSubstr("external load"));
  evidence.tpot_ns = 12.5e6;
  EXPECT_EQ(judge_decode(evidence).limit, DecodeLimit::bandwidth);
}

TEST(DecodeLimit, WithoutABandwidthThereIsNoRatio) {
  DecodeEvidence evidence = step(12.5e6);
  evidence.bandwidth.reset();
  const DecodeVerdict verdict = judge_decode(evidence);
  EXPECT_EQ(verdict.limit, DecodeLimit::unknown);
  EXPECT_FALSE(verdict.weight_floor_ratio);
  EXPECT_THAT(verdict.sentence, HasSubstr("unavailable"));
}

TEST(DecodeLimit, WithoutATimeThereIsNoRatio) { EXPECT_FALSE(judge_decode(step(0)).floor_ratio); }

TEST(DecodeLimit, BatchesThatShareReadsAreEvidence) {
  DecodeEvidence evidence = step(12.5e6);
  evidence.batches = {{1, 12.5e6}, {4, 15e6}};
  const DecodeVerdict verdict = judge_decode(evidence);
  EXPECT_NEAR(verdict.batch_growth_ratio.value(), 0.2 / 3, 1e-12);
  EXPECT_THAT(verdict.evidence.back(), HasSubstr("share"));
}

TEST(DecodeLimit, BatchesThatCostTheirOwnTimeAreEvidence) {
  DecodeEvidence evidence = step(12.5e6);
  evidence.batches = {{1, 10e6}, {2, 20e6}};
  EXPECT_THAT(judge_decode(evidence).evidence.back(), HasSubstr("each sequence"));
}

TEST(DecodeLimit, OneBatchYieldsNoCurve) {
  DecodeEvidence evidence = step(12.5e6);
  evidence.batches = {{1, 10e6}};
  EXPECT_FALSE(judge_decode(evidence).batch_growth_ratio);
}

// table [1000, 256] looked up, matrix [256, 256] multiplied, both float32; and a scalar.
graph::Graph small_model(bool tied) {
  graph::Graph graph;
  const auto constant = [&](const char* name, graph::Shape shape) {
    const auto id = graph.add_tensor({name, graph::ElementType::float32, std::move(shape)});
    graph.initializers.push_back({id, {}});
    return id;
  };
  const auto ids = graph.add_tensor({"ids", graph::ElementType::int64, graph::Shape{1, 1}});
  const auto table = constant("table", {1000, 256}), matrix = constant("matrix", {256, 256}), scalar = constant("scalar", {});
  const auto rows = graph.add_tensor({"rows", graph::ElementType::float32, graph::Shape{1, 1, 256}});
  const auto out = graph.add_tensor({"out", graph::ElementType::float32, graph::Shape{1, 1, 256}});
  graph.nodes.push_back({"g", "Gather", "", {table, ids}, {rows}, {}});
  graph.nodes.push_back({"m", "MatMul", "", {rows, matrix}, {out}, {}});
  graph.nodes.push_back({"a", "Add", "", {out, scalar}, {}, {}});
  if (tied) graph.nodes.push_back({"t", "Transpose", "", {table}, {}, {}});
  return graph;
}

TEST(WeightBytes, OfATableOnlyTheRowsCount) {
  EXPECT_EQ(weight_bytes_per_step(small_model(false), 1), 256 * 256 * 4 + 256 * 4);
  EXPECT_EQ(weight_bytes_per_step(small_model(false), 8), 256 * 256 * 4 + 8 * 256 * 4);
}
TEST(WeightBytes, ATableThatIsTheHeadTooCountsWhole) {
  EXPECT_EQ(weight_bytes_per_step(small_model(true), 1), 256 * 256 * 4 + 1000 * 256 * 4);
}
TEST(WeightBytes, NeverMoreThanTheTable) {
  EXPECT_EQ(weight_bytes_per_step(small_model(false), 5000), 256 * 256 * 4 + 1000 * 256 * 4);
}
TEST(WeightBytes, AnEmptyGraphReadsNothing) { EXPECT_EQ(weight_bytes_per_step({}, 1), 0); }

}  // namespace
}  // namespace aaco::analytics::llm
