#include "workflows/llm_model/node_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using runner::llm::DecoderStep;

// Two generations of a prefill and two decode steps, as their profile has them.
struct Profile {
  trace::MemorySink rows;
  std::vector<DecoderStep> steps;

  Profile() {
    for (std::int64_t call = 0; call < 6; ++call) {
      const std::int64_t place = call % 3;
      steps.push_back({.past = place == 0 ? 0 : 7 + place, .length = place == 0 ? 8 : 1});
      const bool prefill = place == 0;
      run(call, prefill ? 1000 : 100 + call);
      node(call, "/0/MatMul", "MatMul", prefill ? 600 : 40);
      node(call, "/0/MatMul", "MatMul", prefill ? 100 : 20);
      node(call, "/0/Softmax", "Softmax", prefill ? 300 : 20);
    }
  }
  void run(std::int64_t call, std::int64_t ns) {
    trace::IterationRow row;
    row.iteration = call;
    row.duration_ns = ns;
    rows.add(row);
  }
  void node(std::int64_t call, const char* name, const char* type, std::int64_t ns) {
    trace::NodeExecutionRow row;
    row.iteration = call;
    row.node_name = rows.name(name);
    row.op_type = rows.name(type);
    row.provider = rows.name("CPUExecutionProvider");
    row.duration_ns = ns;
    rows.add(row);
  }
};

TEST(DecoderProfile, PhasesAreApart) {
  const Profile profile;
  const auto phases = phases_of(profile.steps, profile.rows);
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].name, "prefill");
  EXPECT_EQ(phases[0].calls, 2);
  EXPECT_EQ(phases[0].context_tokens, 0);
  EXPECT_EQ(phases[0].call_ns, 1000);
  EXPECT_EQ(phases[1].name, "decode");
  EXPECT_EQ(phases[1].calls, 4);
  EXPECT_EQ(phases[1].context_tokens, 8);
}
TEST(DecoderProfile, ANodeHasAllItsExecutionsOfACall) {
  const Profile profile;
  const auto phases = phases_of(profile.steps, profile.rows);
  ASSERT_EQ(phases.at(0).nodes.size(), 2U);
  const ProfiledNode& longest = phases[0].nodes[0];
  EXPECT_EQ(longest.name, "/0/MatMul");
  EXPECT_EQ(longest.op_type, "MatMul");
  EXPECT_EQ(longest.count, 2);
  EXPECT_EQ(longest.ns, 700);
  EXPECT_DOUBLE_EQ(longest.share_ratio, 0.7);
  EXPECT_EQ(phases[1].nodes[0].ns, 60);
  EXPECT_DOUBLE_EQ(phases[1].nodes[0].share_ratio, 0.75);
}
TEST(DecoderProfile, OnePromptWithoutDecodeHasOnePhase) {
  Profile profile;
  for (DecoderStep& step : profile.steps) step.past = 0;
  EXPECT_EQ(phases_of(profile.steps, profile.rows).size(), 1U);
}
TEST(DecoderProfile, CallsWithoutAStepAreLeftOut) {
  Profile profile;
  profile.steps.resize(1);
  const auto phases = phases_of(profile.steps, profile.rows);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].calls, 1);
}
TEST(DecoderProfile, NoCallsHaveNoPhases) { EXPECT_TRUE(phases_of({}, trace::MemorySink()).empty()); }

estimation::NodeEstimate predicted(const char* name, double seconds) {
  estimation::NodeEstimate node;
  node.name = name;
  node.repeats = 1;
  node.latency.seconds = seconds;
  return node;
}
TEST(DecoderProfile, NodesHaveThePredictionOfTheirName) {
  const Profile profile;
  auto phases = phases_of(profile.steps, profile.rows);
  phases[1].nodes[1].name = "/0/Softmax/fused";
  LevelPrediction prediction;
  prediction.decode.emplace();
  prediction.decode->nodes = {predicted("/0/MatMul", 5e-8), predicted("/0/Soft", 1), predicted("/0/Softmax", 1e-8)};
  const core::Json json = profiled_nodes_json(phases, {"prompt 8, batch 1", 1, 8, 3, true}, prediction);
  const core::Json& prefill = json["phases"].items()[0];
  const core::Json& decode = json["phases"].items()[1];
  EXPECT_TRUE(prefill["nodes"].items()[0]["predicted_ns"].is_null());
  EXPECT_EQ(prefill["new_tokens"].as_i64(), 8);
  EXPECT_DOUBLE_EQ(decode["nodes"].items()[0]["predicted_ns"].as_f64().value(), 50);
  EXPECT_DOUBLE_EQ(decode["nodes"].items()[1]["predicted_ns"].as_f64().value(), 10);
  EXPECT_EQ(decode["new_tokens"].as_i64(), 1);
}
TEST(DecoderProfile, WithoutADeviceThereAreNoPredictions) {
  const Profile profile;
  const core::Json json = profiled_nodes_json(phases_of(profile.steps, profile.rows), {"prompt 8, batch 1", 1, 8, 3, true}, {});
  EXPECT_TRUE(json["phases"].items()[1]["predicted_ns"].is_null());
  EXPECT_EQ(json["phases"].items()[1]["calls"].as_i64(), 4);
}

}  // namespace
}  // namespace aaco::workflows
