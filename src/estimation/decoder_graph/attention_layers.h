#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimation/decoder_graph/graph_paths.h"

namespace aaco::estimation {

// Larger than any model's; products of two such sizes fit 64 bits.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;

// One attention of a graph, fused or written out as a product, a softmax and a product.
struct AttentionLayer {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0, queries = 0, keys = 0, window = 0;
  bool causal = false;                    // the operator says so
  std::set<std::size_t> inputs, outputs;  // products with weights: of Q, K and V; behind it
  bool operator==(const AttentionLayer&) const = default;
};

// In order of execution. `batch`: sequences.
std::vector<AttentionLayer> attention_layers(const GraphPaths& paths, std::int64_t batch);

}  // namespace aaco::estimation
