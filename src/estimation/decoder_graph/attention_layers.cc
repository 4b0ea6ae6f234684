#include "estimation/decoder_graph/attention_layers.h"

#include <algorithm>
#include <array>

namespace aaco::estimation {
namespace {

using graph::Node;
using graph::TensorId;

constexpr int kMaxSteps = 16;  // from a softmax to the products on either side: scaling, masks, casts, reshapes

bool plausible(const AttentionLayer& layer) {
  const std::array sizes{layer.heads, layer.kv_heads, layer.head_dim, layer.value_dim, layer.queries, layer.keys};
  return layer.window <= kMaxSize &&
         std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size >= 1 && size <= kMaxSize; });
}

double elements(const std::vector<std::int64_t>& sizes) {
  double product = sizes.empty() ? 0 : 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

const graph::GemmSite* unweighted(const GraphPaths& paths, std::size_t node) {
  const auto* site = std::get_if<graph::GemmSite>(&paths.cost(node).site);
  return site != nullptr && !site->weights ? site : nullptr;
}

// Back from the scores that a softmax reads to the product that made them; null: something else made them.
const std::size_t* product_before(const GraphPaths& paths, TensorId scores) {
  for (int step = 0; step < kMaxSteps; ++step) {
    const std::size_t* made_by = paths.producer(scores);
    if (made_by == nullptr || unweighted(paths, *made_by) != nullptr) return made_by;
    const Node& node = paths.graph().nodes[*made_by];
    const double count = elements(paths.sizes(scores));
    TensorId next;
    for (const TensorId id : node.inputs)  // a mask is made of inputs and constants alone, or is smaller
      if (id.valid() && !paths.is_constant(id) && elements(paths.sizes(id)) == count &&
          (!next.valid() || !paths.weighted_before(id).empty()))
        next = id;
    if (!next.valid()) return nullptr;
    scores = next;
  }
  return nullptr;
}

const std::size_t* product_after(const GraphPaths& paths, TensorId weights) {
  for (int step = 0; step < kMaxSteps; ++step) {
    const auto& readers = paths.consumers(weights);
    for (const std::size_t& reader : readers)
      if (unweighted(paths, reader) != nullptr) return &reader;
    if (readers.empty() || paths.graph().nodes[readers.front()].outputs.empty()) return nullptr;
    weights = paths.graph().nodes[readers.front()].outputs[0];
  }
  return nullptr;
}

// Heads of keys by the width of the product that makes them: a graph that repeats them for each query says more.
void settle_groups(const GraphPaths& paths, const std::set<std::size_t>& of_queries, const std::set<std::size_t>& of_keys,
                   AttentionLayer& layer) {
  if (of_keys.size() != 1 || layer.head_dim < 1) return;
  const std::int64_t width = paths.weighted(*of_keys.begin())->n;
  const bool joint = of_queries == of_keys;
  const std::int64_t groups = joint ? (width - layer.heads * layer.head_dim) / (2 * layer.head_dim) : width / layer.head_dim;
  if (groups >= 1 && groups <= layer.heads && layer.heads % groups == 0) layer.kv_heads = groups;
}

std::optional<AttentionLayer> fused(const GraphPaths& paths, std::size_t number) {
  const auto* site = std::get_if<graph::AttentionSite>(&paths.cost(number).site);
  const Node& node = paths.graph().nodes[number];
  if (site == nullptr || node.inputs.empty() || node.outputs.empty()) return std::nullopt;
  AttentionLayer layer{site->heads,
                       site->kv_heads,
                       site->head_dim,
                       site->value_dim,
                       site->queries,
                       site->keys,
                       std::max<std::int64_t>(0, node.int_or("local_window_size", 0)),
                       site->causal,
                       {},
                       {}};
  // Under a window the site has the keys that are seen.
  if (layer.window > 0 && node.outputs.size() > 1)
    if (const auto kept = paths.sizes(node.outputs[1]); kept.size() == 4) layer.keys = kept[2];
  if (!plausible(layer)) return std::nullopt;
  if (site->projection_macs <= 0) {
    const bool separate = node.inputs.size() > 2 && node.inputs[1].valid() && node.inputs[2].valid();
    const auto queries = paths.weighted_before(node.inputs[0]);
    layer.inputs = queries;
    if (separate) {
      const auto keys = paths.weighted_before(node.inputs[1]), values = paths.weighted_before(node.inputs[2]);
      settle_groups(paths, queries, keys, layer);
      layer.inputs.insert(keys.begin(), keys.end());
      layer.inputs.insert(values.begin(), values.end());
    }
  }
  layer.outputs = paths.weighted_after(node.outputs[0]);
  return layer;
}

std::optional<AttentionLayer> written_out(const GraphPaths& paths, std::size_t number, std::int64_t batch) {
  const Node& node = paths.graph().nodes[number];
  if (paths.cost(number).kind != graph::OperatorClass::softmax || node.inputs.empty() || node.outputs.empty())
    return std::nullopt;
  const auto scores = paths.sizes(node.outputs[0]);
  if (scores.size() < 3) return std::nullopt;
  const std::size_t *before = product_before(paths, node.inputs[0]), *after = product_after(paths, node.outputs[0]);
  if (before == nullptr || after == nullptr || batch < 1) return std::nullopt;
  const graph::GemmSite *first = unweighted(paths, *before), *second = unweighted(paths, *after);
  const Node &first_node = paths.graph().nodes[*before], &second_node = paths.graph().nodes[*after];
  if (first == nullptr || second == nullptr || first_node.inputs.size() < 2 || second_node.inputs.size() < 2) return std::nullopt;
  AttentionLayer layer;
  const double rows =
      static_cast<double>(batch) * static_cast<double>(scores[scores.size() - 2]) * static_cast<double>(scores.back());
  const double heads = elements(scores) / std::max(1.0, rows);
  layer.heads = layer.kv_heads = heads <= static_cast<double>(kMaxSize) ? static_cast<std::int64_t>(heads) : 0;
  layer.head_dim = first->k;
  layer.value_dim = second->n;
  layer.queries = scores[scores.size() - 2];
  layer.keys = scores.back();
  if (!plausible(layer)) return std::nullopt;
  const auto queries = paths.weighted_before(first_node.inputs[0]), keys = paths.weighted_before(first_node.inputs[1]);
  settle_groups(paths, queries, keys, layer);
  for (const auto& products : {queries, keys, paths.weighted_before(second_node.inputs[1])})
    layer.inputs.insert(products.begin(), products.end());
  layer.outputs = paths.weighted_after(second_node.outputs[0]);
  return layer;
}

}  // namespace

std::vector<AttentionLayer> attention_layers(const GraphPaths& paths, std::int64_t batch) {
  std::vector<AttentionLayer> layers;
  for (std::size_t number = 0; number < paths.graph().nodes.size(); ++number) {
    auto layer = fused(paths, number);
    if (!layer) layer = written_out(paths, number, batch);
    if (layer) layers.push_back(*std::move(layer));
  }
  return layers;
}

}  // namespace aaco::estimation
