#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/strings.h"
#include "estimation/decoder_graph.h"
#include "estimation/decoder_graph/attention_layers.h"
#include "graph/tokens.h"

namespace aaco::estimation {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::TensorId;

tl::unexpected<core::Error> missing(const std::string& what) { return core::fail(core::ErrorCode::unsupported, what); }

// Experts in one node: com.microsoft.MoE and QMoE.
struct ExpertNodes {
  std::vector<std::size_t> nodes;
  std::set<std::size_t> routers;
};

ExpertNodes expert_nodes(const GraphPaths& paths) {
  ExpertNodes out;
  for (std::size_t number = 0; number < paths.graph().nodes.size(); ++number) {
    const Node& node = paths.graph().nodes[number];
    if ((node.op_type != "MoE" && node.op_type != "QMoE") || node.inputs.size() < 3) continue;
    out.nodes.push_back(number);
    out.routers.merge(paths.weighted_before(node.inputs[1]));
  }
  return out;
}

// A cache, or something that masks later tokens: an encoder has neither.
bool is_causal(const GraphPaths& paths, const std::vector<AttentionLayer>& layers) {
  const Graph& graph = paths.graph();
  if (std::any_of(layers.begin(), layers.end(), [](const AttentionLayer& one) { return one.causal || one.keys > one.queries; }))
    return true;
  const auto cached = [&](TensorId id) { return core::to_lower(graph.tensor(id).name).starts_with("past"); };
  if (std::any_of(graph.inputs.begin(), graph.inputs.end(), cached)) return true;
  constexpr std::array<std::string_view, 3> kTriangles{"Trilu", "tril", "triu"};
  constexpr std::array<std::string_view, 8> kOrders{"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "lt", "le", "gt", "ge"};
  const auto is_one_of = [](const auto& names, const Node& node) {
    return std::find(names.begin(), names.end(), node.op_type) != names.end();
  };
  const std::int64_t tokens = layers.front().queries;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (is_one_of(kTriangles, node)) return true;
    if (!is_one_of(kOrders, node) || node.outputs.empty() || tokens < 2) return false;
    const std::vector<std::int64_t> sizes = paths.sizes(node.outputs[0]);  // positions compared with positions
    return sizes.size() >= 2 && sizes.back() == tokens && sizes[sizes.size() - 2] == tokens;
  });
}

std::string type_name(ElementType type) {
  switch (type) {
    case ElementType::float16: return "fp16";
    case ElementType::bfloat16: return "bf16";
    case ElementType::float8e4m3fn:
    case ElementType::float8e4m3fnuz:
    case ElementType::float8e5m2:
    case ElementType::float8e5m2fnuz: return "fp8";
    case ElementType::int8:
    case ElementType::uint8: return "int8";
    case ElementType::int4:
    case ElementType::uint4: return "int4";
    case ElementType::float4e2m1: return "mxfp4";
    default: return "fp32";
  }
}

// As stored: constants that are dequantised on the way have the narrower type.
std::string weight_type(const GraphPaths& paths, std::size_t product) {
  const int bits = paths.weighted(product)->weight_bits;
  if (bits == 4) return "int4";
  if (bits == 8) return "int8";
  TensorId largest;
  std::int64_t most = 0;
  for (const TensorId input : paths.graph().nodes[product].inputs)
    for (const TensorId id : paths.stored(input)) {
      const auto& shape = paths.graph().tensor(id).shape;
      const std::int64_t count = shape ? graph::element_count(*shape).value_or(0) : 0;
      if (count <= most) continue;
      most = count;
      largest = id;
    }
  return largest.valid() ? type_name(paths.graph().tensor(largest).type) : "fp32";
}

class Recogniser {
 public:
  Recogniser(const Graph& graph, const std::string& name, const graph::Tokens& ids) : graph_(graph), paths_(graph) {
    model().name = name;
    model().vocabulary = ids.vocabulary;
    out_.step.batch = ids.shape.size() == 2 ? ids.shape[0] : 1;
    out_.step.tokens = ids.shape.back();
  }

  core::Result<RecognisedDecoder> run() {
    AACO_TRY(read_attention());
    AACO_TRY(read_products());
    AACO_TRY(read_experts());
    AACO_TRY(read_blocks());
    read_types();
    if (const auto checked = check_decoder(model()); !checked) return missing(checked.error().message);
    return out_;
  }

 private:
  DecoderArchitecture& model() { return out_.model; }

  core::Status read_attention() {
    layers_ = attention_layers(paths_, out_.step.batch);
    if (layers_.empty()) return missing("no attention found");
    const AttentionLayer& first = layers_.front();
    for (const AttentionLayer& one : layers_) {
      if (one.heads != first.heads || one.kv_heads != first.kv_heads || one.head_dim != first.head_dim ||
          one.queries != first.queries)
        return missing("layers with different attention");
      if (one.value_dim != one.head_dim) return missing("keys and values of different sizes (latent attention)");
      if (one.window > 0) ++model().windowed_layers;
      model().window = std::max(model().window, one.window);
    }
    if (!is_causal(paths_, layers_)) return missing("no cache and no causal mask: an encoder");
    if (first.queries != out_.step.tokens) return missing("attention over tokens of another input (cross-attention)");
    model().layers = static_cast<std::int64_t>(layers_.size());
    model().heads = first.heads;
    model().kv_heads = first.kv_heads;
    model().head_dim = first.head_dim;
    out_.step.past = std::max<std::int64_t>(0, first.keys - first.queries);
    return {};
  }

  // The scores, and what is left for the feed-forward blocks.
  core::Status read_products() {
    std::set<std::size_t> of_attention;
    experts_ = expert_nodes(paths_);
    for (const AttentionLayer& one : layers_) {
      of_attention.insert(one.inputs.begin(), one.inputs.end());
      if (one.outputs.size() != 1) return missing("no output projection behind an attention");
      of_attention.insert(*one.outputs.begin());
    }
    for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
      const graph::GemmSite* site = paths_.weighted(number);
      if (site == nullptr || of_attention.contains(number) || experts_.routers.contains(number)) continue;
      if (site->n > kMaxSize || site->k > kMaxSize) return missing("a product of an implausible size");
      blocks_.push_back(number);
      if (site->n == model().vocabulary) head_ = number;  // the last: a block may have as many columns
    }
    std::erase(blocks_, head_.value_or(graph_.nodes.size()));
    if (!head_) return missing("no product that scores the vocabulary");
    model().hidden = paths_.weighted(*head_)->k;
    const std::size_t first_output = *layers_.front().outputs.begin();
    if (paths_.weighted(first_output)->n != model().hidden) return missing("output projection and scores differ in width");
    read_tying();
    return {};
  }

  // The table of embeddings multiplies the last norm as well.
  void read_tying() {
    std::set<TensorId> of_scores;
    for (const TensorId input : graph_.nodes[*head_].inputs) of_scores.merge(paths_.stored(input));
    for (const Node& node : graph_.nodes) {
      if (node.op_type != "Gather" && node.op_type != "embedding" && node.op_type != "GatherBlockQuantized") continue;
      if (node.inputs.empty()) continue;
      for (const TensorId table : paths_.stored(node.inputs[0])) model().tied_embeddings |= of_scores.contains(table);
    }
  }

  core::Status read_experts() {
    if (experts_.nodes.empty()) return {};
    ExpertSizes sizes;
    for (const std::size_t number : experts_.nodes) {
      const Node& node = graph_.nodes[number];
      const bool packed = node.op_type == "QMoE";
      const std::size_t step = packed ? 3 : 2;
      const std::int64_t bits = packed ? std::clamp<std::int64_t>(node.int_or("expert_weight_bits", 4), 1, 8) : 8;
      const auto values = [&](std::size_t input) -> std::int64_t {
        if (node.inputs.size() <= input || !node.inputs[input].valid()) return 0;
        const auto& shape = graph_.tensor(node.inputs[input]).shape;
        const std::int64_t count = shape ? graph::element_count(*shape).value_or(0) : 0;
        return count > INT64_MAX / 8 ? 0 : count * 8 / bits;
      };
      const auto router = paths_.sizes(node.inputs[1]);
      ExpertSizes here;
      here.count = router.empty() ? 0 : router.back();
      here.per_token = node.int_or("k", 1);
      if (here.count < 1 || here.count > kMaxSize) return missing("experts of unknown sizes");
      const std::int64_t width = here.count * model().hidden, up = values(2), down = values(2 + step),
                         gate = values(2 + 2 * step);
      if (width < 1 || down < width) return missing("experts of unknown sizes");
      here.intermediate = down / width;
      model().gated = up / 2 + gate / 2 == down;
      if (sizes.count > 0 && !(here == sizes)) return missing("layers with different experts");
      sizes = here;
      model().expert_type = packed ? (bits == 8 ? "int8" : "int4") : type_name(graph_.tensor(node.inputs[2]).type);
    }
    sizes.dense_layers = model().layers - static_cast<std::int64_t>(experts_.nodes.size());
    if (sizes.dense_layers < 0) return missing("more layers of experts than of attention");
    model().experts = sizes;
    return {};
  }

  // Of each dense layer one product back to the hidden size, and one of its width, of twice its width, or two.
  core::Status read_blocks() {
    const std::int64_t dense = model().dense_layers();
    std::int64_t downs = 0, width = 0;
    for (const std::size_t number : blocks_) {
      const graph::GemmSite& site = *paths_.weighted(number);
      if (site.k == model().hidden) {
        width += site.n;
      } else if (site.n == model().hidden && (downs == 0 || site.k == model().intermediate)) {
        model().intermediate = site.k;
        ++downs;
      } else {
        return missing("a product of an unknown role: " + graph_.nodes[number].name);
      }
    }
    if (downs != dense) return missing(fmt::format("{} feed-forward blocks for {} layers of attention", downs, dense));
    if (dense == 0) return {};
    if (width != dense * model().intermediate && width != 2 * dense * model().intermediate)
      return missing("feed-forward blocks of an unknown form");
    model().gated = width == 2 * dense * model().intermediate;
    return {};
  }

  void read_types() {
    model().family = "graph";
    model().weight_type = weight_type(paths_, *layers_.front().outputs.begin());
    const Node& projection = graph_.nodes[*layers_.front().outputs.begin()];  // scores are often cast to a wider type
    const ElementType type = projection.outputs.empty() ? ElementType::unknown : graph_.tensor(projection.outputs[0]).type;
    out_.step.activations = out_.step.cache = graph::is_floating(type) ? type : ElementType::float16;
    for (const TensorId id : graph_.inputs)
      if (core::to_lower(graph_.tensor(id).name).starts_with("past")) out_.step.cache = graph_.tensor(id).type;
  }

  const Graph& graph_;
  GraphPaths paths_;
  std::vector<AttentionLayer> layers_;
  ExpertNodes experts_;
  std::optional<std::size_t> head_;
  std::vector<std::size_t> blocks_;
  RecognisedDecoder out_;
};

}  // namespace

core::Result<RecognisedDecoder> recognise_decoder(const graph::Graph& bound, const std::string& name) {
  const auto ids = graph::token_inputs(bound);
  if (ids.size() != 1) return missing(ids.empty() ? "no input of token ids" : "several inputs of token ids");
  for (const std::int64_t size : ids.front().shape)
    if (size < 1 || size > kMaxSize) return missing("token ids of unknown size");
  return Recogniser(bound, name, ids.front()).run();
}

}  // namespace aaco::estimation
