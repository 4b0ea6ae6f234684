#include "estimation/decoder_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "graph/cost.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::TensorId;
using testing::HasSubstr;

RecognisedDecoder small() {
  RecognisedDecoder decoder;
  auto& model = decoder.model;
  model.name = "small";
  model.layers = 3;
  model.hidden = 64;
  model.heads = 8;
  model.kv_heads = 2;
  model.head_dim = 16;
  model.intermediate = 160;
  model.vocabulary = 1000;
  model.weight_type = "fp16";
  decoder.step = {2, 1, 31, ElementType::float16, ElementType::float16};
  return decoder;
}

// The same sizes come out of the graph that is made of them.
void expect_same(const RecognisedDecoder& decoder) {
  const auto found = recognise_decoder(served_step(decoder), decoder.model.name);
  ASSERT_TRUE(found) << found.error().message;
  DecoderArchitecture model = found->model;
  model.family = decoder.model.family;
  EXPECT_EQ(model, decoder.model);
  EXPECT_EQ(found->step.batch, decoder.step.batch);
  EXPECT_EQ(found->step.tokens, decoder.step.tokens);
  EXPECT_EQ(found->step.past, decoder.step.past);
}
std::string refusal(const Graph& graph) {
  const auto found = recognise_decoder(graph, "m");
  return found ? "accepted" : found.error().message;
}

TEST(DecoderGraph, GroupedQueriesOnACache) { expect_same(small()); }
TEST(DecoderGraph, PromptWithoutAPast) {
  RecognisedDecoder decoder = small();
  decoder.step.tokens = 32;
  decoder.step.past = 0;
  expect_same(decoder);
}
TEST(DecoderGraph, FeedForwardOfTwoMatricesAndHeadsOfTheirOwnKeys) {
  RecognisedDecoder decoder = small();
  decoder.model.gated = false;
  decoder.model.kv_heads = 8;
  expect_same(decoder);
}
TEST(DecoderGraph, FeedForwardAsWideAsTheVocabulary) {
  RecognisedDecoder decoder = small();
  decoder.model.intermediate = 500;
  expect_same(decoder);
}
TEST(DecoderGraph, FourBitWeights) {
  RecognisedDecoder decoder = small();
  decoder.model.weight_type = "int4";
  expect_same(decoder);
}
TEST(DecoderGraph, Fp8Weights) {
  RecognisedDecoder decoder = small();
  decoder.model.weight_type = "fp8";
  expect_same(decoder);
}
TEST(DecoderGraph, Experts) {
  RecognisedDecoder decoder = small();
  decoder.model.intermediate = 0;
  decoder.model.experts = ExpertSizes{8, 2, 96, 0, 0};
  decoder.model.expert_type = "fp16";
  expect_same(decoder);
  decoder.model.expert_type = "int4";
  expect_same(decoder);
}

TEST(DecoderGraph, CacheIsReadOnceAndWrittenInPlace) {
  RecognisedDecoder decoder = small();
  decoder.step.past = 4095;
  const Graph graph = served_step(decoder);
  double attention = 0;
  for (const graph::CostedNode& one : graph::cost_of(graph).nodes) {
    EXPECT_TRUE(one.cost.known) << one.node->op_type << ": " << one.cost.reason;
    if (one.cost.kind == graph::OperatorClass::attention) attention += one.cost.bytes_read + one.cost.bytes_written;
  }
  const double cache = 3 * 2 * 2.0 * 4096 * 2 * 16 * 2;  // layers, keys and values, sequences, tokens, heads, values, bytes
  EXPECT_NEAR(attention / cache, 1, 0.01);
}
TEST(DecoderGraph, NarrowWeightsTakeFewerBytes) {
  RecognisedDecoder decoder = small();
  const double wide = graph::cost_of(served_step(decoder)).weight_bytes;
  decoder.model.weight_type = "int4";
  EXPECT_LT(graph::cost_of(served_step(decoder)).weight_bytes, 0.75 * wide);
}

TEST(DecoderGraph, RefusesGraphsOfOtherKinds) {
  EXPECT_EQ(refusal(Graph()), "no input of token ids");
  Graph graph = served_step(small());
  graph.inputs.push_back(graph.add_tensor({"decoder_input_ids", ElementType::int64, Shape{2, 4}}));
  const TensorId table = graph.add_tensor({"table", ElementType::float16, Shape{900, 64}});
  graph.initializers.push_back({table, {}});
  graph.nodes.push_back(
      {"", "Gather", "", {table, graph.inputs.back()}, {graph.add_tensor({"e", ElementType::float16, Shape{2, 4, 64}})}, {}});
  EXPECT_EQ(refusal(graph), "several inputs of token ids");
}
TEST(DecoderGraph, RefusesWhatLacksAPart) {
  Graph headless = served_step(small());
  headless.nodes.pop_back();
  EXPECT_EQ(refusal(headless), "no product that scores the vocabulary");
  Graph blind = served_step(small());
  std::erase_if(blind.nodes, [](const graph::Node& node) { return node.op_type == "GroupQueryAttention"; });
  EXPECT_EQ(refusal(blind), "no attention found");
  Graph shallow = served_step(small());
  std::erase_if(shallow.nodes, [](const graph::Node& node) { return node.name == "layers.1.down_proj"; });
  EXPECT_EQ(refusal(shallow), "2 feed-forward blocks for 3 layers of attention");
}
TEST(DecoderGraph, RefusesLayersThatDiffer) {
  Graph graph = served_step(small());
  for (graph::Node& node : graph.nodes)
    if (node.name == "layers.1.attention")
      for (graph::Attribute& one : node.attributes)
        if (one.name == "num_heads") one.value = std::int64_t{4};
  EXPECT_EQ(refusal(graph), "layers with different attention");
}
TEST(DecoderGraph, RefusesProductsOfUnknownRoles) {
  Graph graph = served_step(small());
  for (graph::Node& node : graph.nodes)
    if (node.name == "layers.2.down_proj") graph.tensor(node.inputs[1]).shape = Shape{160, 48};
  EXPECT_THAT(refusal(graph), HasSubstr("a product of an unknown role: layers.2.down_proj"));
}

}  // namespace
}  // namespace aaco::estimation
