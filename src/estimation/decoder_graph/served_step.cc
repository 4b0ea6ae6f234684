#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "estimation/decoder_graph.h"

namespace aaco::estimation {
namespace {

using graph::Attribute;
using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::TensorId;

constexpr const char* kMicrosoft = "com.microsoft";
constexpr std::int64_t kBlock = 128;  // weights per scale of GPTQ and AWQ

// Stored bits where a type is no element of a tensor of products.
int packed_bits(const std::string& type) {
  if (type == "int4" || type == "mxfp4" || type == "nvfp4") return 4;
  return type == "int8" ? 8 : 0;
}

class Builder {
 public:
  explicit Builder(const RecognisedDecoder& decoder) : model_(decoder.model), step_(decoder.step) {}

  Graph build() {
    const std::int64_t hidden = model_.hidden;
    graph_.name = model_.name;
    graph_.opsets = {{"", 21}, {kMicrosoft, 1}};
    const TensorId ids = tensor("input_ids", ElementType::int64, {step_.batch, step_.tokens});
    graph_.inputs.push_back(ids);
    TensorId x = node("embed_tokens", "Gather", "", {weight(step_.activations, {model_.vocabulary, hidden}), ids}, rows(hidden));
    TensorId residual = x;
    for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
      scope_ = fmt::format("layers.{}.", layer);
      x = norm("input_norm", x, residual, layer > 0);
      x = attention(x, layer);
      x = norm("post_attention_norm", x, residual, true);
      x = layer < model_.dense_layers() ? feed_forward(x) : experts(x);
    }
    scope_.clear();
    x = norm("norm", x, residual, true);
    if (step_.tokens > 1) {
      const TensorId last = tensor("last_position", ElementType::int64, {1});
      graph_.inputs.push_back(last);
      x = node("last_token", "Gather", "", {x, last}, {step_.batch, 1, hidden}, {{"axis", std::int64_t{1}}});
    }
    const TensorId scores = node("lm_head", "MatMul", "", {x, weight(step_.activations, {hidden, model_.vocabulary})},
                                 {step_.batch, 1, model_.vocabulary});
    graph_.outputs.push_back(scores);
    return std::move(graph_);
  }

 private:
  TensorId tensor(std::string name, ElementType type, Shape shape) {
    return graph_.add_tensor({std::move(name), type, std::move(shape)});
  }
  TensorId weight(ElementType type, Shape shape) {
    const TensorId id = tensor(fmt::format("{}weight_{}", scope_, graph_.tensors.size()), type, std::move(shape));
    graph_.initializers.push_back({id, {}});
    return id;
  }
  [[nodiscard]] Shape rows(std::int64_t width) const { return {step_.batch, step_.tokens, width}; }

  TensorId node(const std::string& name, const char* op_type, const char* domain, std::vector<TensorId> inputs, Shape shape,
                std::vector<Attribute> attributes = {}, ElementType type = ElementType::unknown) {
    const TensorId out = tensor(fmt::format("{}{}_output", scope_, name), type == ElementType::unknown ? step_.activations : type,
                                std::move(shape));
    graph_.nodes.push_back({scope_ + name, op_type, domain, std::move(inputs), {out}, std::move(attributes)});
    return out;
  }

  // The residual is added on the way where there is one.
  TensorId norm(const std::string& name, TensorId x, TensorId& residual, bool adds) {
    const TensorId scale = weight(step_.activations, {model_.hidden});
    if (!adds) return node(name, "SimplifiedLayerNormalization", kMicrosoft, {x, scale}, rows(model_.hidden));
    const TensorId out = node(name, "SkipSimplifiedLayerNormalization", kMicrosoft, {x, residual, scale}, rows(model_.hidden));
    residual = tensor(scope_ + name + "_residual", step_.activations, rows(model_.hidden));
    graph_.nodes.back().outputs = {out, {}, {}, residual};
    return out;
  }

  TensorId product(const std::string& name, TensorId x, std::int64_t n, std::int64_t k) {
    if (const int bits = packed_bits(model_.weight_type); bits > 0) {
      const std::int64_t blocks = (k + kBlock - 1) / kBlock;
      return node(name, "MatMulNBits", kMicrosoft,
                  {x, weight(ElementType::uint8, {n, blocks, kBlock * bits / 8}), weight(ElementType::float16, {n * blocks})},
                  rows(n), {{"N", n}, {"K", k}, {"bits", std::int64_t{bits}}, {"block_size", kBlock}});
    }
    const bool narrow = model_.weight_type == "fp8";
    if (narrow) graph_.tensor(x).type = ElementType::float8e4m3fn;  // quantised in the kernel before it
    return node(name, "MatMul", "", {x, weight(narrow ? ElementType::float8e4m3fn : step_.activations, {k, n})}, rows(n));
  }

  TensorId attention(TensorId x, std::int64_t layer) {
    const std::int64_t width = model_.heads * model_.head_dim, all = step_.past + step_.tokens;
    const bool windowed = model_.window > 0 && layer < model_.windowed_layers;
    const std::int64_t kept = windowed ? std::min(all, model_.window + step_.tokens) : all;
    const TensorId joint = product("qkv_proj", x, width + 2 * model_.kv_heads * model_.head_dim, model_.hidden);
    const Shape pages{step_.batch, model_.kv_heads, kept, model_.head_dim};
    std::vector<TensorId> inputs{joint, {}, {}}, kept_in_place;
    for (const char* name : {"key", "value"}) {
      inputs.push_back(tensor(fmt::format("past_key_values.{}.{}", layer, name), step_.cache, pages));
      graph_.inputs.push_back(inputs.back());
      kept_in_place.push_back(tensor(fmt::format("present.{}.{}", layer, name), step_.cache, pages));
    }
    std::vector<Attribute> attributes{
        {"num_heads", model_.heads}, {"kv_num_heads", model_.kv_heads}, {"do_rotary", std::int64_t{1}}};
    if (windowed) attributes.push_back({"local_window_size", model_.window});
    const TensorId mixed =
        node("attention", "GroupQueryAttention", kMicrosoft, std::move(inputs), rows(width), std::move(attributes));
    graph_.nodes.back().outputs.insert(graph_.nodes.back().outputs.end(), kept_in_place.begin(), kept_in_place.end());
    return product("o_proj", mixed, model_.hidden, width);
  }

  TensorId feed_forward(TensorId x) {
    const std::int64_t inner = model_.intermediate;
    x = product(model_.gated ? "gate_up_proj" : "up_proj", x, (model_.gated ? 2 : 1) * inner, model_.hidden);
    x = model_.gated ? node("activation", "BiasSplitGelu", kMicrosoft, {x}, rows(inner))
                     : node("activation", "FastGelu", kMicrosoft, {x}, rows(inner));
    return product("down_proj", x, model_.hidden, inner);
  }

  TensorId experts(TensorId x) {
    const ExpertSizes& e = *model_.experts;
    const std::string& type = model_.expert_type.empty() ? model_.weight_type : model_.expert_type;
    const std::int64_t bits = packed_bits(type), up = (model_.gated ? 2 : 1) * e.intermediate;
    const TensorId scores = node("router", "MatMul", "", {x, weight(step_.activations, {model_.hidden, e.count})}, rows(e.count));
    std::vector<Attribute> attributes{{"k", e.per_token}};
    if (bits > 0) attributes.push_back({"expert_weight_bits", bits});
    const auto matrices = [&](std::int64_t k, std::int64_t n) {
      if (bits > 0) return weight(ElementType::uint8, {e.count, k, n * bits / 8});
      return weight(type == "fp8" ? ElementType::float8e4m3fn : step_.activations, {e.count, k, n});
    };
    const TensorId first = matrices(model_.hidden, up), second = matrices(e.intermediate, model_.hidden);
    std::vector<TensorId> inputs{x, scores, first, {}, second};
    if (bits > 0) inputs = {x, scores, first, {}, {}, second};
    return node("experts", bits > 0 ? "QMoE" : "MoE", kMicrosoft, std::move(inputs), rows(model_.hidden), std::move(attributes));
  }

  const DecoderArchitecture& model_;
  const DecoderStep& step_;
  Graph graph_;
  std::string scope_;
};

}  // namespace

graph::Graph served_step(const RecognisedDecoder& decoder) { return Builder(decoder).build(); }

}  // namespace aaco::estimation
