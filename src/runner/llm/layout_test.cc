#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/decoder.h"

namespace aaco::runner::llm {
namespace {

using testing::HasSubstr;

struct Declared {
  std::string name;
  ElementType type = ElementType::int64;
  graph::Shape shape;
};

graph::Graph model(std::vector<Declared> inputs, std::vector<Declared> outputs) {
  graph::Graph graph;
  for (auto& one : inputs) graph.inputs.push_back(graph.add_tensor({one.name, one.type, one.shape}));
  for (auto& one : outputs) graph.outputs.push_back(graph.add_tensor({one.name, one.type, one.shape}));
  return graph;
}

const graph::Shape kPast = {"batch_size", 4, "past_sequence_length", 16};
const graph::Shape kPresent = {"batch_size", 4, "past_sequence_length + 1", 16};
const Declared kIds = {"input_ids", ElementType::int64, {"batch_size", "sequence_length"}};
const Declared kMask = {"attention_mask", ElementType::int64, {"batch_size", "total"}};
const Declared kLogits = {"logits", ElementType::float32, {"batch_size", "sequence_length", 512}};
Declared past(const char* suffix, graph::Shape shape = kPast, ElementType type = ElementType::float32) {
  return {std::string("past_key_values") + suffix, type, std::move(shape)};
}
Declared present(const char* suffix) { return {std::string("present") + suffix, ElementType::float32, kPresent}; }

// A model with one layer and these inputs besides.
graph::Graph decoder(std::vector<Declared> more = {}) {
  std::vector<Declared> inputs = {kIds, kMask};
  inputs.insert(inputs.end(), more.begin(), more.end());
  inputs.push_back(past(".0.key"));
  inputs.push_back(past(".0.value"));
  return model(inputs, {kLogits, present(".0.key"), present(".0.value")});
}

std::string refusal(const graph::Graph& graph) {
  const auto layout = find_decoder_layout(graph);
  return layout ? "" : layout.error().text();
}

TEST(DecoderLayoutTest, FindsOptimumsPairs) {
  const auto layout = find_decoder_layout(decoder());
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->family, DecoderLayout::Family::optimum);
  EXPECT_EQ(layout->layers, 1);
  EXPECT_EQ(layout->kv_heads, 4);
  EXPECT_EQ(layout->cache[0].past, "past_key_values.0.key");
  EXPECT_EQ(layout->cache[0].present, "present.0.key");
  EXPECT_EQ(layout->cache[0].head_size, 16);
  EXPECT_EQ(layout->vocabulary, 512);
  EXPECT_FALSE(layout->max_positions);
  EXPECT_TRUE(layout->positions.name.empty());
}

TEST(DecoderLayoutTest, CacheBytesFollowFromHeadsAndSize) {
  EXPECT_EQ(find_decoder_layout(decoder())->cache_bytes(3, 10), 3 * 10 * 2 * 4 * 16 * 4);
}

TEST(DecoderLayoutTest, TakesTheOptionalInputs) {
  const auto layout = find_decoder_layout(decoder({{"position_ids", ElementType::int64, {"batch_size", "sequence_length"}},
                                                   {"use_cache_branch", ElementType::boolean, {1}},
                                                   {"seqlens_k", ElementType::int32, {"batch_size"}},
                                                   {"total_sequence_length", ElementType::int32, {}}}));
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->positions.name, "position_ids");
  EXPECT_EQ(layout->cache_branch.name, "use_cache_branch");
  EXPECT_EQ(layout->lengths.name, "seqlens_k");
  EXPECT_EQ(layout->total_length.name, "total_sequence_length");
}

TEST(DecoderLayoutTest, GroupQueryAttentionIsGenAi) {
  graph::Graph graph = decoder();
  const auto unused = graph::TensorId{};
  graph.nodes.push_back(
      {"g", "GroupQueryAttention", "com.microsoft", {unused, unused, unused, graph.inputs[2], graph.inputs[3]}, {}, {}});
  EXPECT_EQ(find_decoder_layout(graph)->family, DecoderLayout::Family::genai);
}

TEST(DecoderLayoutTest, InputsHaveTheShapesOfAStep) {
  const auto inputs = decoder_inputs(*find_decoder_layout(decoder()), 2, 7, 3);
  ASSERT_EQ(inputs.size(), 4U);
  EXPECT_EQ(inputs[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(inputs[1].shape, (std::vector<std::int64_t>{2, 10}));
  EXPECT_EQ(inputs[2].shape, (std::vector<std::int64_t>{2, 4, 7, 16}));
}

TEST(DecoderLayoutTest, RefusesAModelWithoutACache) {
  EXPECT_THAT(refusal(model({kIds, kMask}, {kLogits})), HasSubstr("no key/value cache (inputs: input_ids, attention_mask)"));
}
TEST(DecoderLayoutTest, RefusesTheFirstHalfOfASplitExport) {
  EXPECT_THAT(refusal(model({kIds}, {kLogits, present(".0.key")})), HasSubstr("split export"));
}
TEST(DecoderLayoutTest, RefusesAnEncoderDecoder) {
  EXPECT_THAT(refusal(decoder({{"encoder_hidden_states", ElementType::float32, {"batch_size", "n", 64}}})), HasSubstr("encoder"));
}
TEST(DecoderLayoutTest, RefusesAnUnknownInput) {
  EXPECT_THAT(refusal(decoder({{"pixel_values", ElementType::float32, {1, 3, 8, 8}}})), HasSubstr("'pixel_values' has no known"));
}
TEST(DecoderLayoutTest, RefusesEmbeddings) {
  EXPECT_THAT(refusal(model({past(".0.key")}, {kLogits, present(".0.key")})), HasSubstr("input_ids"));
}
TEST(DecoderLayoutTest, RefusesACombinedCache) {
  EXPECT_THAT(refusal(model({kIds, {"past_0", ElementType::float32, {2, "batch", 4, "past", 16}}}, {kLogits})),
              HasSubstr("expected [batch, heads, tokens, size]"));
}
TEST(DecoderLayoutTest, RefusesUnknownHeads) {
  EXPECT_THAT(refusal(model({kIds, past(".0.key", {"b", "h", "p", 16})}, {kLogits, present(".0.key")})),
              HasSubstr("fixed heads"));
}
TEST(DecoderLayoutTest, RefusesAFixedCacheLength) {
  EXPECT_THAT(refusal(model({kIds, past(".0.key", {"b", 4, 128, 16})}, {kLogits, present(".0.key")})), HasSubstr("is fixed"));
}
TEST(DecoderLayoutTest, RefusesAPastWithoutAPresent) {
  EXPECT_THAT(refusal(model({kIds, past(".0.key")}, {kLogits, present(".1.key")})), HasSubstr("no output 'present.0.key'"));
}
TEST(DecoderLayoutTest, RefusesLayersThatDiffer) {
  EXPECT_THAT(
      refusal(model({kIds, past(".0.key"), past(".1.key", {"b", 8, "p", 16})}, {kLogits, present(".0.key"), present(".1.key")})),
      HasSubstr("differ in heads"));
}
TEST(DecoderLayoutTest, RefusesAnIntegerCache) {
  EXPECT_THAT(refusal(model({kIds, past(".0.key", kPast, ElementType::int8)}, {kLogits, present(".0.key")})), HasSubstr("int8"));
}

}  // namespace
}  // namespace aaco::runner::llm
