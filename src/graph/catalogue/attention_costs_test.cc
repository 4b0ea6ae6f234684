#include <gtest/gtest.h>

#include "graph/cost.h"
#include "graph/shapes.h"

namespace aaco::graph {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 4, kSize = 16, kWidth = kHeads * kSize, kPast = 100;
// Of a query and key: a multiply-accumulate for each of a head's numbers, twice, the scale and a softmax of five.
constexpr double kPair = 2 * 2 * kSize + 5 + 1;

struct Attention {
  std::vector<Shape> inputs;  // an empty one is absent
  std::int64_t outputs = 1;
  std::vector<Attribute> attributes;
};

NodeCost cost(const std::string& op, const Attention& attention) {
  Graph graph;
  graph.opsets = {{"", 17}, {"com.microsoft", 1}};
  Node node{op, op, "com.microsoft", {}, {}, attention.attributes};
  node.attributes.push_back({"num_heads", kHeads});
  for (const Shape& shape : attention.inputs)
    node.inputs.push_back(
        shape.empty() ? TensorId{} : graph.add_tensor({"x" + std::to_string(graph.tensors.size()), ElementType::float32, shape}));
  for (std::int64_t output = 0; output < attention.outputs; ++output)
    node.outputs.push_back(graph.add_tensor({"y" + std::to_string(output), ElementType::unknown, {}}));
  graph.nodes = {node};
  const ShapeReport report = infer_shapes(graph);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  const GraphCost made = cost_of(graph);
  EXPECT_TRUE(made.unmodelled.empty());
  return made.nodes.front().cost;
}

const Shape kToken{kBatch, 1, kWidth}, kCache{kBatch, kHeads, kPast, kSize};
constexpr double kCacheBytes = 4.0 * kBatch * kHeads * kPast * kSize, kTokenBytes = 4.0 * kBatch * kWidth;

TEST(DecoderMaskedAttention, TokenAttendsToPastAndItself) {
  const NodeCost apart = cost("DecoderMaskedMultiHeadAttention", {{kToken, kToken, kToken, {}, {}, kCache, kCache}, 3, {}});
  EXPECT_EQ(apart.flops, kBatch * kHeads * (kPast + 1) * kPair);
  const NodeCost packed =
      cost("DecoderMaskedMultiHeadAttention", {{Shape{kBatch, 1, 3 * kWidth}, {}, {}, {}, {}, kCache, kCache}, 3, {}});
  EXPECT_EQ(packed.flops, apart.flops) << "query, key and value in a row";
  const NodeCost crossed = cost("DecoderMaskedMultiHeadAttention", {{kToken, kCache, kCache}, 1, {}});
  EXPECT_EQ(crossed.flops, kBatch * kHeads * kPast * kPair);
}

TEST(DecoderMaskedAttention, OfASharedBufferOneTokenIsWritten) {
  const NodeCost made =
      cost("DecoderMaskedMultiHeadAttention",
           {{kToken, kToken, kToken, {}, {}, kCache, kCache}, 3, {{"past_present_share_buffer", std::int64_t{1}}}});
  EXPECT_EQ(made.flops, kBatch * kHeads * kPast * kPair);
  EXPECT_EQ(made.bytes_read, 3 * kTokenBytes + 2 * kCacheBytes);
  EXPECT_EQ(made.bytes_written, 3 * kTokenBytes);
}

TEST(DecoderMaskedAttention, ItsOwnProjectionCounts) {
  const NodeCost made =
      cost("DecoderMaskedSelfAttention",
           {{kToken, Shape{kWidth, 3 * kWidth}, Shape{3 * kWidth}, {}, Shape{2, kBatch, kHeads, kPast, kSize}}, 2, {}});
  EXPECT_EQ(made.flops, 2.0 * kBatch * kWidth * 3 * kWidth + kBatch * kHeads * (kPast + 1) * kPair);
}

TEST(GroupedAttention, WindowLeavesRemainingSharedCacheUntouched) {
  const auto grouped = [](std::vector<Attribute> attributes) {
    attributes.push_back({"kv_num_heads", kHeads});
    Graph graph;
    graph.opsets = {{"", 17}, {"com.microsoft", 1}};
    Node node{"gqa", "GroupQueryAttention", "com.microsoft", {}, {}, std::move(attributes)};
    node.attributes.push_back({"num_heads", kHeads});
    for (const Shape& shape : {kToken, kToken, kToken, kCache, kCache})
      node.inputs.push_back(graph.add_tensor({"x" + std::to_string(graph.tensors.size()), ElementType::float32, shape}));
    for (const Shape& shape : {kToken, kCache, kCache})
      node.outputs.push_back(graph.add_tensor({"y" + std::to_string(graph.tensors.size()), ElementType::float32, shape}));
    graph.nodes = {node};
    return cost_of(graph).nodes.front().cost;
  };
  constexpr double kWindow = 10;
  const NodeCost all = grouped({}), window = grouped({{"local_window_size", std::int64_t{10}}});
  EXPECT_EQ(all.bytes_read, 3 * kTokenBytes + 2 * kCacheBytes);
  EXPECT_NEAR(window.bytes_read, 3 * kTokenBytes + 2 * kCacheBytes * kWindow / kPast, 1e-6);
  for (const NodeCost& made : {all, window}) EXPECT_NEAR(made.bytes_written, 3 * kTokenBytes, 1e-6) << "one token of a buffer";
  EXPECT_EQ(window.flops, kBatch * kHeads * kWindow * kPair);
}

const std::vector<Attribute> kGroups = {{"kv_num_heads", std::int64_t{2}}};
const Shape kKept{kBatch, 2, 128, kSize};

TEST(SparseAttention, TheUsedBlocksCount) {
  const auto pairs = [](std::int64_t used) {
    return cost("SparseAttention", {{{kBatch, 128, kWidth},
                                     {kBatch, 128, 2 * kSize},
                                     {kBatch, 128, 2 * kSize},
                                     kKept,
                                     kKept,
                                     {1, 5},
                                     {1, used},
                                     {1},
                                     {kBatch}},
                                    3,
                                    kGroups})
               .flops /
           kPair;
  };
  EXPECT_EQ(pairs(16), kBatch * kHeads * 128 * 128);
  EXPECT_EQ(pairs(8), kBatch * kHeads * 128 * 64);
}
TEST(PagedAttention, KeyCountComesFromPages) {
  const Shape pages{64, 16, 2, kSize};
  const NodeCost made =
      cost("PagedAttention", {{{6, kWidth}, {6, 2 * kSize}, {6, 2 * kSize}, pages, pages, {4}, {3}, {3, 8}}, 3, kGroups});
  EXPECT_EQ(made.flops, 3 * kHeads * 2 * 8 * 16 * kPair);
  EXPECT_EQ(made.bytes_written, 4.0 * 6 * (kWidth + 2 * 2 * kSize));
}
TEST(LongformerAttention, TokenAttendsToItsWindow) {
  const NodeCost made =
      cost("LongformerAttention", {{{kBatch, 200, kWidth}, {kWidth, 3 * kWidth}}, 1, {{"window", std::int64_t{16}}}});
  EXPECT_EQ(made.flops, 2.0 * kBatch * 200 * kWidth * 3 * kWidth + kBatch * kHeads * 200 * 33 * kPair);
}
TEST(Embeddings, ATokenReadsARowOfEachTable) {
  const NodeCost made = cost("EmbedLayerNormalization", {{{2, 10}, {2, 10}, {1000, 32}, {512, 32}, {2, 32}, {32}, {32}}, 1, {}});
  EXPECT_EQ(made.bytes_read, 4.0 * (2 * 2 * 10 + 3 * 20 * 32 + 2 * 32));
}
TEST(Embeddings, PackedRowsAreReadInPlace) {
  Graph graph;
  Node node{
      "rows", "GatherBlockQuantized", "com.microsoft", {}, {}, {{"bits", std::int64_t{4}}, {"block_size", std::int64_t{32}}}};
  node.inputs = {graph.add_tensor({"data", ElementType::uint8, Shape{1000, 32}}),
                 graph.add_tensor({"ids", ElementType::int64, Shape{20}}),
                 graph.add_tensor({"scales", ElementType::float32, Shape{1000, 2}})};
  node.outputs = {graph.add_tensor({"y", ElementType::float32, Shape{20, 64}})};
  EXPECT_EQ(cost_of(graph, node).bytes_read, 20 * 32 + 20 * 8 + 20 * 2 * 4);
}

}  // namespace
}  // namespace aaco::graph
