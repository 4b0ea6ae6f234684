#include "estimation/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::TensorId;

// Tensors of `kFloats` floats; 4000 bytes each.
constexpr std::int64_t kFloats = 1000, kBytes = 4 * kFloats;

class Chain {
 public:
  TensorId tensor(const std::string& name, Shape shape = {kFloats}) {
    return graph.add_tensor({name, ElementType::float32, std::move(shape)});
  }
  TensorId input(const std::string& name, Shape shape = {kFloats}) {
    const TensorId id = tensor(name, std::move(shape));
    graph.inputs.push_back(id);
    return id;
  }
  TensorId weight(const std::string& name, Shape shape) {
    const TensorId id = tensor(name, std::move(shape));
    graph.initializers.push_back({id, {}});
    return id;
  }
  TensorId node(const std::string& op, std::vector<TensorId> inputs, Shape shape = {kFloats}) {
    const TensorId out = tensor(op + std::to_string(graph.nodes.size()), std::move(shape));
    graph.nodes.push_back({op, op, "", std::move(inputs), {out}, {}});
    return out;
  }
  MemoryEstimate estimate(const MemoryPolicy& policy = {}) const { return estimate_memory(graph, policy); }
  Graph graph;
};

TEST(Memory, OverflowingSizesSaturate) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 57;  // floats
  Chain chain;
  for (int number = 0; number < 40; ++number) {
    chain.weight("w" + std::to_string(number), {kHuge});
    chain.graph.outputs.push_back(chain.input("past_" + std::to_string(number), {kHuge}));
  }
  chain.node("Relu", {chain.graph.inputs.front()}, {kHuge});
  const MemoryEstimate estimate = chain.estimate();
  for (const std::int64_t bytes :
       {estimate.weight_bytes, estimate.input_bytes, estimate.output_bytes, estimate.kv_cache_bytes, estimate.peak_bytes})
    EXPECT_EQ(bytes, INT64_MAX);
  EXPECT_EQ(total_constants(chain.graph).bytes, INT64_MAX);
}

TEST(Memory, ChainNeedsInputAndTwoBuffers) {
  Chain chain;
  TensorId x = chain.input("x");
  for (int step = 0; step < 5; ++step) x = chain.node("Transpose", {x});
  chain.graph.outputs = {x};
  const MemoryEstimate estimate = chain.estimate();
  EXPECT_EQ(estimate.activation_bytes, 3 * kBytes);
  EXPECT_EQ(estimate.input_bytes, kBytes);
  EXPECT_EQ(estimate.output_bytes, kBytes);
  ASSERT_EQ(estimate.timeline.size(), 5U);
  EXPECT_EQ(estimate.timeline[0].activation_bytes, 2 * kBytes);
}

TEST(Memory, ElementWiseResultReusesItsInput) {
  Chain chain;
  TensorId x = chain.node("Transpose", {chain.input("x")});
  for (int step = 0; step < 5; ++step) x = chain.node("Relu", {x});
  chain.graph.outputs = {x};
  EXPECT_EQ(chain.estimate().activation_bytes, 2 * kBytes);
  MemoryPolicy policy;
  policy.reuses_inputs = false;
  EXPECT_EQ(chain.estimate(policy).activation_bytes, 3 * kBytes);
}

TEST(Memory, ModelInputIsNotOverwritten) {
  Chain chain;
  chain.graph.outputs = {chain.node("Relu", {chain.input("x")})};
  EXPECT_EQ(chain.estimate().activation_bytes, 2 * kBytes);
}

TEST(Memory, LiveBufferIsNotOverwritten) {
  Chain chain;
  const TensorId x = chain.node("Transpose", {chain.input("x")});
  const TensorId y = chain.node("Relu", {x});
  chain.graph.outputs = {chain.node("Add", {x, y})};
  EXPECT_EQ(chain.estimate().activation_bytes, 3 * kBytes);
}

TEST(Memory, ASkipConnectionLivesUntilItIsAdded) {
  Chain chain;
  const TensorId skip = chain.node("Transpose", {chain.input("x")});
  TensorId x = skip;
  for (int step = 0; step < 3; ++step) x = chain.node("Transpose", {x});
  chain.graph.outputs = {chain.node("Add", {x, skip})};
  const MemoryEstimate estimate = chain.estimate();
  EXPECT_EQ(estimate.activation_bytes, 4 * kBytes);
  EXPECT_THAT(estimate.at_peak, testing::Contains(testing::Field(&LiveTensor::name, "Transpose0")));
}

TEST(Memory, ViewsNeedNoMemory) {
  Chain chain;
  TensorId x = chain.node("Transpose", {chain.input("x")});
  const TensorId y = chain.node("Flatten", {x}, {1, kFloats});
  chain.graph.outputs = {chain.node("Identity", {y}, {1, kFloats})};
  EXPECT_EQ(chain.estimate().activation_bytes, 2 * kBytes);
}

TEST(Memory, WeightsAreNotActivations) {
  Chain chain;
  const TensorId x = chain.input("x", {1, 10}), w = chain.weight("w", {10, 20});
  const TensorId turned = chain.node("Transpose", {w}, {10, 20});  // folded when the model is loaded
  chain.graph.outputs = {chain.node("MatMul", {x, turned}, {1, 20})};
  const MemoryEstimate estimate = chain.estimate();
  EXPECT_EQ(estimate.weight_bytes, 2 * 800);
  EXPECT_EQ(estimate.activation_bytes, 40 + 80);
}

TEST(Memory, RuntimeMemoryFollowsPolicy) {
  Chain chain;
  const TensorId x = chain.input("x", {1, 10}), w = chain.weight("w", {10, 20});
  chain.graph.outputs = {chain.node("MatMul", {x, w}, {1, 20})};
  MemoryPolicy policy;
  policy.weight_copies = 1;
  policy.loading_copies = 3;
  policy.runtime_bytes = 1000;
  policy.node_bytes = 10;
  EXPECT_EQ(chain.estimate(policy).loaded_bytes, 1010 + 800);
  EXPECT_EQ(chain.estimate(policy).peak_bytes, 1010 + 2400);  // loading takes most
  policy.loading_copies = 1;
  policy.activation_ratio = 2;
  EXPECT_EQ(chain.estimate(policy).peak_bytes, 1010 + 800 + 2 * 120);
}

TEST(Memory, AttentionKeepsItsScoresUnlessThePolicySaysOtherwise) {
  Chain chain;
  const TensorId q = chain.input("q", {1, 8, 64, 16}), k = chain.input("k", {1, 8, 64, 16}), v = chain.input("v", {1, 8, 64, 16});
  const TensorId y = chain.tensor("y", {1, 8, 64, 16});
  chain.graph.opsets = {{"", 23}};
  chain.graph.nodes.push_back({"attention", "Attention", "", {q, k, v}, {y}, {}});
  chain.graph.outputs = {y};
  EXPECT_EQ(chain.estimate().workspace_bytes, 8 * 64 * 64 * 4);
  MemoryPolicy flash;
  flash.materialises_scores = false;
  EXPECT_EQ(chain.estimate(flash).workspace_bytes, 0);
}

TEST(Memory, CacheIsCountedSeparately) {
  Chain chain;
  const TensorId past = chain.input("past_key_values.0.key"), x = chain.input("x");
  const TensorId present = chain.tensor("present.0.key", {2 * kFloats});
  chain.graph.nodes.push_back({"concat", "Concat", "", {past, x}, {present}, {{"axis", std::int64_t{0}}}});
  chain.graph.outputs = {present};
  EXPECT_EQ(chain.estimate().kv_cache_bytes, 3 * kBytes);
}

TEST(Memory, ABodyCountsAtTheNodeThatRunsIt) {
  Chain body;
  TensorId x = body.tensor("outer");
  body.graph.captured = {x};
  for (int step = 0; step < 3; ++step) x = body.node("Transpose", {x});
  body.graph.outputs = {x};
  Chain chain;
  const TensorId outer = chain.node("Transpose", {chain.input("x")});
  chain.graph.tensor(outer).name = "outer";
  const TensorId y = chain.tensor("y");
  chain.graph.subgraphs = {body.graph, body.graph};
  const TensorId condition = chain.graph.add_tensor({"condition", ElementType::boolean, Shape{}});
  chain.graph.inputs.push_back(condition);
  chain.graph.nodes.push_back({"if",
                               "If",
                               "",
                               {condition},
                               {y},
                               {{"then_branch", std::vector<graph::SubgraphId>{graph::SubgraphId{0}}},
                                {"else_branch", std::vector<graph::SubgraphId>{graph::SubgraphId{1}}}}});
  chain.graph.outputs = {y};
  const MemoryEstimate estimate = chain.estimate();
  EXPECT_EQ(estimate.peak_node, 1);
  EXPECT_EQ(estimate.workspace_bytes, 2 * kBytes);
  EXPECT_EQ(estimate.activation_bytes, 3 * kBytes + 1);  // x, outer, y and the condition
}

TEST(Memory, UnknownShapesAreCountedAsSuch) {
  Chain chain;
  const TensorId y = chain.graph.add_tensor({"y", ElementType::float32, std::nullopt});
  chain.graph.nodes.push_back({"odd", "Odd", "example", {chain.input("x")}, {y}, {}});
  chain.graph.outputs = {y};
  EXPECT_EQ(chain.estimate().unknown_tensors, 1);
  EXPECT_EQ(chain.estimate().activation_bytes, kBytes);
}

TEST(Memory, SizesBeyondAnyMachineDoNotOverflow) {
  Chain chain;
  std::vector<TensorId> all = {chain.input("x", {std::int64_t{1} << 57})};
  for (int step = 0; step < 40; ++step) all.push_back(chain.node("Transpose", {all[0]}, {std::int64_t{1} << 57}));
  chain.graph.outputs = all;
  EXPECT_EQ(chain.estimate().peak_bytes, INT64_MAX);
}

TEST(Memory, OversizedTensorSaturates) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 31;
  for (const Shape& shape : {Shape{std::int64_t{1} << 61}, Shape{kHuge, kHuge, kHuge}}) {
    Chain chain;
    chain.graph.outputs = {chain.node("Transpose", {chain.input("x", shape)}, shape)};
    EXPECT_EQ(chain.estimate().peak_bytes, INT64_MAX);
    EXPECT_EQ(chain.estimate().unknown_tensors, 0);
  }
}
TEST(Memory, EmptyHugeTensorNeedsNoMemory) {
  Chain chain;
  const Shape shape = {std::int64_t{1} << 40, std::int64_t{1} << 40, 0};
  chain.graph.outputs = {chain.node("Transpose", {chain.input("x", shape)}, shape)};
  EXPECT_EQ(chain.estimate().peak_bytes, 0);
  EXPECT_EQ(chain.estimate().unknown_tensors, 0);
}

TEST(Memory, OnnxRuntimeUsesMoreThanLiveBytes) {
  Chain chain;
  TensorId x = chain.input("x");
  for (int step = 0; step < 5; ++step) x = chain.node("Transpose", {x});
  chain.graph.outputs = {x};
  const MemoryEstimate estimate = chain.estimate(onnxruntime_cpu());
  EXPECT_EQ(estimate.activation_bytes, 3 * kBytes);
  EXPECT_GT(estimate.peak_bytes - estimate.loaded_bytes, 3 * kBytes);
}

TEST(Memory, EmptyGraphNeedsNoMemory) { EXPECT_EQ(Chain().estimate().peak_bytes, 0); }

}  // namespace
}  // namespace aaco::estimation
